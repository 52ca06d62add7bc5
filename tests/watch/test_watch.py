"""Two watchers share the work; one is killed; all is done once, and no mirror is ever partial."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import msgspec
import pytest

from proctor.results.summary import summarize
from proctor.watch.job_state import RUN, Evaluated, Standing, known_jobs
from proctor.watch.leases import holder, latest

Make = Callable[..., Path]
CHECKPOINTS, TASKS = 10, 3
PATIENCE_SECONDS = 240.0


def start(config: Path, log: Path) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-m", "proctor", "watch", str(config), "--mirror", "mirror"]
    with log.open("ab") as file:
        return subprocess.Popen(words, stdout=file, stderr=file)


class Reader:
    """Reads a mirror all the time, as those do who publish from it."""

    def __init__(self, mirror: Path) -> None:
        self._mirror = mirror
        self._over = threading.Event()
        self.wrong: list[str] = []
        self.seen: set[Path] = set()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _read(self) -> None:
        while not self._over.wait(0.01):
            self._read_new()
        self._read_new()

    def _read_new(self) -> None:
        for place in self._mirror.glob("[!.]*/*"):
            if place in self.seen:
                continue
            self.seen.add(place)
            try:
                said = msgspec.json.decode((place / "evaluated.json").read_bytes(), type=Evaluated)
                found = summarize(place / RUN)
                whole = (found.samples, found.passed) == (said.samples, said.passed)
                if not whole or not (place / RUN / "report.json").is_file():
                    self.wrong.append(f"{place}: {found}")
            except Exception as error:  # noqa: BLE001  whatever a reader would stumble over
                self.wrong.append(f"{place}: {error!r}")


def working(results: Path, pid: int) -> Path | None:
    """Return the job that a watcher works on, and whose model was asked already."""
    for folder in results.glob("*/*"):
        number = latest(folder) if folder.is_dir() else 0
        who = holder(folder, number) if number else None
        attempt = folder / f"attempt.{number}" / "completions.jsonl"
        if who and who.pid == pid and not (folder / "evaluated.json").exists() and attempt.exists():
            return folder
    return None


@pytest.mark.parametrize(
    "benchmarks", [["demo"], pytest.param(["demo", "other"], marks=pytest.mark.slow)]
)
def test_all_is_done_once_though_one_is_killed(
    alone: Path,
    tasks: Make,
    relied_on: Callable[..., Any],
    checkpoint: Make,
    configured: Make,
    asked: Callable[[], list[str]],
    benchmarks: list[str],
) -> None:
    for name in benchmarks:
        relied_on(tasks(name, TASKS))
    config = configured(benchmarks=[f"{name}.jsonl" for name in benchmarks])
    results, log = alone / "results", alone / "log.txt"
    expected = CHECKPOINTS * len(benchmarks)
    watchers = [start(config, log), start(config, log)]
    killed: Path | None = None
    made = 0
    end = time.monotonic() + PATIENCE_SECONDS
    try:
        with Reader(alone / "mirror") as reader:
            while len(list((alone / "mirror").glob("[!.]*/*"))) < expected:
                assert time.monotonic() < end, log.read_text()
                if made < CHECKPOINTS:
                    checkpoint(f"{'ab'[made % 2]}{made}", off=made % 2, seconds=0.2)
                    made += 1
                if killed is None and (there := working(results, watchers[0].pid)) is not None:
                    watchers[0].kill()
                    watchers[0].wait()
                    killed = there
                time.sleep(0.1)
        watchers[1].send_signal(signal.SIGTERM)
        assert watchers[1].wait(60) == 130
    finally:
        for one in watchers:
            one.kill()
            one.wait()
    assert killed is not None
    assert reader.wrong == []
    assert len(reader.seen) == expected
    jobs = list(known_jobs(results))
    assert len(jobs) == expected
    for job in jobs:
        assert job.evaluated is not None
        assert job.evaluated.standing is Standing.DONE
        off = int(Path(job.checkpoint.path).name[1:]) % 2
        assert job.evaluated.passed == (0 if off else TASKS)
        assert job.attempt == (2 if Path(job.folder) == killed else 1), log.read_text()
    counts = Counter(asked())
    assert len(counts) == expected * TASKS
    [known] = [job for job in jobs if Path(job.folder) == killed]
    twice = {line.split()[0] for line, count in counts.items() if count > 1}
    assert twice <= {known.checkpoint.path}
    assert max(counts.values()) <= 2
    assert log.read_text().count(": attempt 1") == expected
    assert not [path for path in results.rglob("attempt.*") if path.is_dir()]


def test_what_a_killed_watcher_started_ends_with_it(
    alone: Path,
    tasks: Make,
    relied_on: Callable[..., Any],
    checkpoint: Make,
    configured: Make,
    processes_below: Callable[[int], set[int]],
    asked: Callable[[], list[str]],
) -> None:
    relied_on(tasks())
    checkpoint("step-1", seconds=600)
    watcher = start(configured(), alone / "log.txt")
    try:
        end = time.monotonic() + 60
        while not asked():
            assert time.monotonic() < end, (alone / "log.txt").read_text()
            time.sleep(0.05)
        below = processes_below(watcher.pid)
        assert len(below) >= 2
    finally:
        watcher.kill()
        watcher.wait()
    while any(_lives(pid) for pid in below):
        assert time.monotonic() < end
        time.sleep(0.05)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
