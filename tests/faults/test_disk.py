"""A disk that is full, read-only, or gone bad: what was graded is kept, and the run goes on.

Disks are small file systems in memory, mounted where nobody but the run sees them.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

GO_ON = "what was graded is kept, and the same command without --fresh goes on from there"


class Disks:
    """Mounts of our own, in which commands can be run."""

    def __init__(self) -> None:
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        self._holder = subprocess.Popen(
            ["unshare", *user, "--mount", "sh", "-c", "echo; exec sleep 600"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self._holder.stdout is not None
        assert self._holder.stderr is not None
        if not self._holder.stdout.readline():
            said = self._holder.stderr.read().decode().strip()
            self._holder.communicate()
            pytest.skip(f"no mounts of our own can be had here: {said}")
        enter = ["--user", "--preserve-credentials"] if user else []
        pid = str(self._holder.pid)
        there = ["sh", "-c", 'cd "$0" && exec "$@"', str(Path.cwd())]
        self.enter = ["nsenter", "--target", pid, *enter, "--mount", *there]
        self.root = Path(f"/proc/{pid}/root")

    def see(self, path: Path) -> Path:
        """Return where something of theirs is seen from here."""
        return self.root / path.absolute().relative_to("/")

    def mount(self, path: str, options: str) -> None:
        Path(path).mkdir(exist_ok=True)
        self._do("mount", "-t", "tmpfs", "-o", options, "tmpfs", path)

    def remount(self, path: str, options: str) -> None:
        self._do("mount", "-o", f"remount,{options}", path)

    def _do(self, *command: str) -> None:
        subprocess.run([*self.enter, *command], check=True)

    def close(self) -> None:
        self._holder.kill()
        self._holder.communicate()


@pytest.fixture
def disks(work) -> Iterator[Disks]:
    made = Disks()
    work.prefix = made.enter
    work.folder = made.see(work.folder)
    yield made
    made.close()


def is_full(work, disks: Disks, options: str, files: str) -> None:
    disks.mount("run", options)
    ended = work.run()
    assert (ended.status, ended.out) == (3, ""), ended.err
    name, _, why = ended.sentence.removeprefix("cannot write run/").partition(": ")
    assert name in files.split(), ended.sentence
    assert why == f"No space left on device; {GO_ON}"
    assert not (work.folder / "report.json").exists()
    disks.remount("run", "size=64m,nr_inodes=100")
    work.goes_on()


@pytest.mark.parametrize(
    ("options", "files"),
    [
        ("size=100k", "completions.jsonl"),
        pytest.param("size=64m,nr_inodes=3", "receipts.jsonl", marks=pytest.mark.slow),
    ],
)
def test_a_full_disk(work, disks: Disks, options: str, files: str) -> None:
    is_full(work, disks, options, files)


@pytest.mark.slow
@pytest.mark.parametrize("size", [4, 8, 12, 16, *range(100, 2100, 100)])
def test_a_disk_that_is_full_at_any_moment(work, disks: Disks, size: int) -> None:
    files = "manifest.json completions.jsonl receipts.jsonl report.json"
    is_full(work, disks, f"size={size}k", files)


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_to(work, disks: Disks) -> None:
    disks.mount("run", "size=64m")
    process = work.start()
    work.wait(process, 5)
    process.kill()
    work.end(process)
    disks.remount("run", "ro")
    kept = work.receipts()
    ended = work.run()
    assert (ended.status, ended.out) == (2, "")
    assert "Read-only file system" in ended.sentence
    assert ended.sentence.startswith("cannot ")
    assert work.receipts() == kept
    disks.remount("run", "rw")
    work.goes_on()


@pytest.mark.slow
def test_no_room_for_temporary_files(work, disks: Disks, scratch: Path) -> None:
    """Long programs travel in such files: that they cannot is not their fault."""
    disks.mount("tmp", "size=2m")
    disks.mount("run", "size=64m")
    work.write(
        seconds=0.3
    )  # so that long ones are still to come, however late we hear of short ones
    process = work.start()
    work.wait(process, 3)
    with suppress(OSError), (disks.see(scratch) / "filler").open("wb", buffering=0) as filler:
        while filler.write(bytes(1 << 16)):
            pass
    ended = work.end(process)
    work.nothing_wrong()
    assert (ended.status, ended.out) == (3, ""), ended.err
    assert "No space left on device" in ended.sentence
    (disks.see(scratch) / "filler").unlink()
    work.goes_on()
    assert not os.listdir(disks.see(scratch))


@pytest.mark.slow
def test_a_home_that_is_full_only_makes_it_slower(work, disks: Disks) -> None:
    """What is kept there is kept to be faster."""
    disks.mount("home", "size=4k,nr_inodes=1")
    disks.mount("run", "size=64m")
    assert work.run().status == 0
    work.all_right()
