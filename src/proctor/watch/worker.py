"""Starts the process that works on a job, and ends it when time is up or nobody wants it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple

from proctor.errors import HostError, boundary
from proctor.records.encoding import encode
from proctor.watch.config import Config
from proctor.watch.job_process import Work
from proctor.watch.job_state import LOG, Job

MOMENT_SECONDS = 0.1
MAX_SAID = 4096


class Ending(Enum):
    """How a process ended."""

    DONE = auto()
    FAILED = auto()
    LATE = auto()
    """It was killed because it took too long."""
    UNWANTED = auto()
    """It was killed because nobody wants it any more."""


class Worked(NamedTuple):
    """What became of a process."""

    ending: Ending
    said: str = ""
    """Its last line."""


def work_of(config: Config, job: Job, attempt: Path, *, sum_up: bool = False) -> Work:
    """Return what a process is told."""
    return Work(
        folder=str(attempt),
        model=config.model_of(job.checkpoint.path),
        benchmark=job.asked,
        benchmark_sha256=job.benchmark_sha256,
        data=config.data,
        sampling=config.sampling.sampling(),
        prompt_strategy=config.prompt_strategy,
        chat=config.chat,
        base_url=config.base_url,
        device=config.device,
        sandbox=config.sandbox,
        require=config.require,
        workers=config.workers,
        sum_up=sum_up,
    )


def carry_out(work: Work, seconds: float, unwanted: Callable[[], bool]) -> Worked:
    """Have work done in a process of its own, in a group of its own, within so many seconds."""
    log = Path(work.folder) / LOG
    words = [sys.executable, "-P", "-m", "proctor.watch.job_process"]
    with (
        boundary(HostError, "cannot start a process"),
        log.open("ab") as file,
        subprocess.Popen(
            words,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=file,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdin is not None  # noqa: S101
        try:
            with suppress(BrokenPipeError):  # it is gone, and its status says why
                process.stdin.write(encode(work) + b"\n")
            ending = _wait(process, time.monotonic() + seconds, unwanted)
        finally:
            _end(process)
    return Worked(ending, _last_line(log))


def _wait(process: "subprocess.Popen[bytes]", end: float, unwanted: Callable[[], bool]) -> Ending:
    while process.poll() is None:
        if unwanted():
            return Ending.UNWANTED
        if time.monotonic() >= end:
            return Ending.LATE
        time.sleep(MOMENT_SECONDS)
    return Ending.DONE if process.returncode == 0 else Ending.FAILED


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the whole group, and whatever is left of it; what is written is safe against that."""
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _last_line(log: Path) -> str:
    with suppress(OSError), log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - MAX_SAID))
        lines = file.read().decode("utf-8", "backslashreplace").strip().splitlines()
        return lines[-1] if lines else ""
    return ""
