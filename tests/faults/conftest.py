"""A run that is disturbed, and what has to hold for it afterwards, whatever was done to it.

No sample is lost and none has two receipts. A verdict is that of an undisturbed run, or there is
none: trouble of the host is never a wrong answer. What went wrong is one sentence, and the exit
status says whose it was. The same command goes on and ends as if nothing had happened. No process,
mount or temporary folder is left. Where chance has a say its seed is printed; FAULTS_SEED is
another one.
"""

import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.requires import requires

PR_SET_CHILD_SUBREAPER = 36


@pytest.fixture
def scratch(alone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have the temporary folder of runs to ourselves."""
    folder = alone / "tmp"
    folder.mkdir()
    for parent in (folder, *folder.parents[:4]):
        parent.chmod(parent.stat().st_mode | 0o011)
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def children() -> set[int]:
    found: set[int] = set()
    for path in Path("/proc/self/task").glob("*/children"):
        found |= {int(pid) for pid in path.read_text().split()}
    return found


@pytest.fixture
def orphans() -> Iterator[Callable[[], set[int]]]:
    """Take in orphans; return a function that says which are left, when all had time to end."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = children()

    def left() -> set[int]:
        end = time.monotonic() + 60
        while (now := children() - before) and time.monotonic() < end:
            for pid in now:
                try:
                    os.waitpid(pid, os.WNOHANG)
                except ChildProcessError:
                    continue
            time.sleep(0.01)
        return now

    yield left
    libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    for pid in children() - before:  # of a test that failed
        os.kill(pid, signal.SIGKILL)


def mounts() -> list[str]:
    """Return what is mounted below the folder that we are in; elsewhere others may mount things."""
    here = str(Path.cwd())
    return [line for line in Path("/proc/self/mounts").read_text().splitlines() if here in line]


@pytest.fixture
def chance() -> random.Random:
    """Return chance that can be had again."""
    seed = int(os.environ.get("FAULTS_SEED", "1"))
    print(f"FAULTS_SEED={seed}")
    return random.Random(seed)


class Ended:
    """How a command ended that was started here."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def sentence(self) -> str:
        """What went wrong, which is said once and in one line."""
        said = [line for line in self.err.splitlines() if line and "NOT ISOLATED" not in line]
        assert len(said) == 1, self.err
        assert said[0].startswith("proctor: "), self.err
        return said[0].removeprefix("proctor: ")


class Work:
    """Files to grade, the command that grades them, and what has to come of it."""

    def __init__(self) -> None:
        self.prefix: list[str] = []
        """A command that runs others, elsewhere."""
        self.options: list[str] = []
        self.folder = Path("run").absolute()
        """Where the run is seen from here."""
        self.write()

    def write(self, tasks: int = 8, each: int = 5, *, seconds: float = 0.0) -> None:
        """Write the files: every program is another one and sleeps for so long, some are long."""
        self.expected: dict[tuple[str, int], str] = {}
        with Path("tasks.jsonl").open("w") as file:
            for n in range(tasks):
                tests: dict[str, Any] = {"kind": "assertions"}
                tests["targets"] = [f"f({n}) == {n}", f"abs(f(-{n})) == {n}"]
                if n % 4 == 2:  # long programs, which are sent to the keeper with their calls
                    tests["targets"] = [f"f({n}) == {n}", f"f(-{n}) == -{n}"]
                if n % 4 == 3:
                    tests = {"kind": "stdin", "inputs": [f"{n}\n"], "outputs": [f"{n}\n"]}
                file.write(json.dumps({"task_id": f"t{n}", "tests": tests}) + "\n")
        with Path("s.jsonl").open("w") as file:
            for n in range(tasks):
                for sample in range(each):
                    off = sample % 3
                    code = f"import time\ntime.sleep({seconds})  # {sample}\n"
                    read = f"print(int(input()) + {off})\n"
                    code += read if n % 4 == 3 else f"def f(x):\n    return x + {off}\n"
                    if n % 4 == 2:  # more than one packet of the control socket takes
                        code += f"# {'x' * 100_000}\n"
                    file.write(json.dumps({"task_id": f"t{n}", "solution": code}) + "\n")
                    self.expected[f"t{n}", sample] = "assertion_fail" if off else "pass"

    def command(self, *more: str) -> list[str]:
        args = ["score", "tasks.jsonl", "--completions", "s.jsonl", "--out", "run", "--json"]
        args += ["--workers", "2"]
        return [*self.prefix, sys.executable, "-m", "proctor", *args, *self.options, *more]

    def start(self, *more: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """Start it in a session of its own."""
        return subprocess.Popen(
            self.command(*more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **(env or {})},
        )

    def end(self, process: subprocess.Popen[str]) -> Ended:
        out, err = process.communicate(timeout=240)
        return Ended(process.returncode, out, err)

    def run(self, *more: str, env: dict[str, str] | None = None) -> Ended:
        return self.end(self.start(*more, env=env))

    def wait(self, process: subprocess.Popen[str], receipts: int) -> None:
        """Wait until so many receipts are there, or it has ended."""
        while self.count() < receipts and process.poll() is None:
            time.sleep(0.005)

    def count(self) -> int:
        path = self.folder / "receipts.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def receipts(self) -> list[dict[str, Any]]:
        """Return the whole lines; a torn one can only be the last."""
        path = self.folder / "receipts.jsonl"
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith(b"\n")]

    def nothing_wrong(self) -> None:
        """See that all there is is right, and there once."""
        found = self.receipts()
        keys = [(one["task_id"], one["sample"]) for one in found]
        assert len(set(keys)) == len(keys)
        for key, one in zip(keys, found, strict=True):
            assert one["outcome"] in (self.expected[key], None), (key, one["bucket"], one["detail"])

    def all_right(self) -> None:
        """See that all is there."""
        self.nothing_wrong()
        found = {(one["task_id"], one["sample"]): one["outcome"] for one in self.receipts()}
        assert found == self.expected
        names = ["completions.jsonl", "manifest.json", "receipts.jsonl", "report.json"]
        assert sorted(os.listdir(self.folder)) == names
        report = json.loads((self.folder / "report.json").read_text())
        assert (report["samples"], report["unscored"]) == (len(found), 0)
        written = (self.folder / "completions.jsonl").read_text().splitlines()
        assert len({json.loads(line)["id"] for line in written}) == len(written) == len(found)

    def goes_on(self) -> None:
        """See that the same command ends as if nothing had happened, and changes nothing more."""
        self.nothing_wrong()
        before = [one for one in self.receipts() if one["outcome"] is not None]
        ended = self.run()
        assert (ended.status, ended.err) == (0, ""), ended.err
        self.all_right()
        assert self.receipts()[: len(before)] == before, "what was graded is not graded again"


@pytest.fixture
def work(scratch: Path, orphans: Callable[[], set[int]]) -> Iterator[Work]:
    """Return work; nothing of what is done with it may be left."""
    yield Work()
    assert not orphans()
    assert not mounts()
    assert not os.listdir(scratch)


@pytest.fixture(scope="session")
def compiler() -> str:
    """Return a compiler for what is put between a process and the system, or skip."""
    requires("c")
    return "gcc"
