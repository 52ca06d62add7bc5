"""Where a job stands: folders of their own, and what came of it, written once."""

import hashlib
import os
import re
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from proctor.grading.generate import ABOUT
from proctor.records.encoding import encode
from proctor.records.task import Benchmark
from proctor.results.pass_at_k import Estimate
from proctor.results.summary import Summary, failure_reasons, summarize
from proctor.storage.journal import writing
from proctor.storage.run_directory import COMPLETIONS, REPORT, pretty
from proctor.watch.checkpoints import Checkpoint
from proctor.watch.config import Config
from proctor.watch.leases import (
    Heartbeat,
    create_once,
    failures,
    holder,
    latest,
    read_record,
    released,
)

CHECKPOINT, EVALUATED, RUN, LOG, MODEL = (
    "checkpoint.json",
    "evaluated.json",
    "run",
    "log.txt",
    "model.json",
)
CARRIED = (COMPLETIONS, COMPLETIONS + ABOUT, MODEL)
"""What a later attempt goes on with: answers. They cost the most, and do not depend on the host."""


class Standing(StrEnum):
    """How a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DEGRADED = "degraded"
    TIMED_OUT = "timed out"
    FAILED = "failed"


class Evaluated(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one checkpoint and one benchmark; it is written once and says the last word."""

    checkpoint: Checkpoint
    benchmark: str
    benchmark_sha256: str
    standing: Standing
    reason: str
    """Why it is not simply done; empty if it is."""
    run: str | None
    """Folder of the run beside this file, if there is one."""
    attempts: int
    samples: int = 0
    passed: int = 0
    unscored: int = 0
    pass_at_k: Mapping[str, Estimate] = {}
    host: str
    finished: str
    schema: int = 1


class Job(NamedTuple):
    """One checkpoint, one benchmark, and the folder that nothing else has."""

    checkpoint: Checkpoint
    asked: str
    """What the configuration calls the benchmark."""
    benchmark: str
    benchmark_sha256: str
    folder: Path

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to do."""
        return (self.folder / EVALUATED).exists()

    @property
    def name(self) -> str:
        """Return what people call it."""
        return f"{self.checkpoint.path} on {self.benchmark}"


def job_of(config: Config, checkpoint: Checkpoint, asked: str, benchmark: Benchmark) -> Job:
    """Return the job of a checkpoint and a benchmark, which is the same on every host."""
    how = [benchmark.sha256, config.model, config.sampling, config.prompt_strategy, config.chat]
    key = hashlib.sha256(encode(how)).hexdigest()[:12]
    folder = place_of(Path(config.results), checkpoint) / f"{_plain(benchmark.name)}-{key}"
    return Job(checkpoint, asked, benchmark.name, benchmark.sha256, folder)


def place_of(results: Path, checkpoint: Checkpoint) -> Path:
    """Return a checkpoint's folder: its last name is for people, the digest tells it apart."""
    name = _plain(Path(checkpoint.path).name)
    return results / f"{name}-{checkpoint.digest[:16]}"


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._+-]", "_", name)[:60].lstrip(".") or "_"


def begin(job: Job) -> None:
    """Make a job's folder, and say whose it is."""
    with writing(job.folder):
        job.folder.mkdir(parents=True, exist_ok=True)
    create_once(job.folder.parent / CHECKPOINT, pretty(job.checkpoint))


def begin_attempt(job: Job, number: int) -> Path:
    """Make the folder of an attempt; it goes on with the answers that the last one wrote down."""
    folder = job.folder / f"attempt.{number}"
    with writing(folder):
        folder.mkdir()
        for earlier in range(number - 1, 0, -1):
            before = job.folder / f"attempt.{earlier}"
            if (before / COMPLETIONS).is_file():
                for name in CARRIED:
                    with suppress(FileNotFoundError):
                        shutil.copyfile(before / name, folder / name)
                break
    return folder


def publish(job: Job, attempt: Path) -> None:
    """Move a run that is complete and flushed to its place; one that is there already stays."""
    place = job.folder / RUN
    with writing(place):
        sync_folder(attempt / RUN)
        with suppress(OSError):
            (attempt / RUN).rename(place)
        if not (place / REPORT).is_file():
            raise FileNotFoundError(2, "the run did not arrive there", str(place))
        sync_folder(job.folder)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # not every file system syncs folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def finish(job: Job, attempts: int, *, late: str = "", failed: str = "") -> Evaluated:
    """Write down what came of a job, from the run that is in its place, if there is one."""
    place = job.folder / RUN
    summary = summarize(place) if place.is_dir() else None
    standing, reason = _standing(summary, late, failed)
    said = Evaluated(
        checkpoint=job.checkpoint,
        benchmark=job.benchmark,
        benchmark_sha256=job.benchmark_sha256,
        standing=standing,
        reason=reason,
        run=None if summary is None else RUN,
        attempts=attempts,
        samples=summary.samples if summary else 0,
        passed=summary.passed if summary else 0,
        unscored=summary.unscored if summary else 0,
        pass_at_k=summary.pass_at_k if summary else {},
        host=socket.gethostname(),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    create_once(job.folder / EVALUATED, pretty(said))
    if summary is not None:  # what is left of attempts says nothing that the run does not
        for attempt in job.folder.glob("attempt.*"):
            shutil.rmtree(attempt, ignore_errors=True)
    return read_record(job.folder / EVALUATED, Evaluated) or said


def _standing(summary: Summary | None, late: str, failed: str) -> tuple[Standing, str]:
    if failed:
        return Standing.FAILED, failed
    if late:
        return Standing.TIMED_OUT, late
    if summary is not None and summary.degraded:
        return Standing.DEGRADED, "; ".join(failure_reasons(summary))
    return Standing.DONE, ""


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder of results says of one job."""

    checkpoint: Checkpoint
    folder: str
    benchmark: str
    standing: Standing
    reason: str = ""
    held_by: str | None = None
    """Host and process that work on it, and when they gave a sign of life."""
    attempt: int
    evaluated: Evaluated | None = None


def known_jobs(results: Path) -> Iterator[Known]:
    """Yield how all jobs stand, checkpoint by checkpoint."""
    for place in sorted(results.glob(f"*/{CHECKPOINT}")):
        checkpoint = read_record(place, Checkpoint)
        if checkpoint is not None:
            for folder in sorted(path for path in place.parent.iterdir() if path.is_dir()):
                yield known(checkpoint, folder)


def known(checkpoint: Checkpoint, folder: Path) -> Known:
    """Say how one job stands."""
    number = latest(folder)
    name = folder.name.rpartition("-")[0]
    said = read_record(folder / EVALUATED, Evaluated)
    held_by, standing, reason = None, Standing.WAITING, ""
    if said is not None:
        name, standing, reason = said.benchmark, said.standing, said.reason
    elif number and released(folder, number) is None:
        who = holder(folder, number)
        beat = read_record(folder / f"beat.{number}", Heartbeat)
        held_by = f"{who.host}, process {who.pid}" if who else "somebody"
        held_by += f", last seen {beat.at}" if beat else ""
        standing = Standing.RUNNING
        reason = "judging" if (folder / f"attempt.{number}" / RUN).is_dir() else "asking"
    elif number:
        reason = next(iter(reversed(failures(folder))), "")
    return Known(
        checkpoint=checkpoint,
        folder=str(folder),
        benchmark=name,
        standing=standing,
        reason=reason,
        held_by=held_by,
        attempt=number,
        evaluated=said,
    )
