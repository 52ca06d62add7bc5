"""Goes round: which checkpoints are there, which jobs are left, and does one after the other."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from proctor.errors import InputError, ProctorError
from proctor.settings import Settings
from proctor.storage.journal import writing
from proctor.watch.checkpoints import Checkpoint, Finder, IncompleteCheckpoint, has_not_changed
from proctor.watch.config import Config
from proctor.watch.job_state import (
    RUN,
    Evaluated,
    Job,
    begin,
    begin_attempt,
    finish,
    job_of,
    publish,
)
from proctor.watch.leases import Lease, Leases, Why, failures, latest
from proctor.watch.mirror import mirror_all
from proctor.watch.rotation import Rotation
from proctor.watch.status import Status, status_of
from proctor.watch.worker import MOMENT_SECONDS, Ending, carry_out, work_of

SUM_UP_SECONDS = 600.0
WAITS_SECONDS = 1.0
"""How often those look who wait for the end of what others do."""


class Watcher:
    """One of any number of watchers that share a folder of results."""

    def __init__(
        self,
        config: Config,
        settings: Settings,
        *,
        mirror: Path | None,
        stop: threading.Event,
        say: Callable[[str], None],
    ) -> None:
        self._config, self._mirror = config, mirror
        self._stop, self._say = stop, say
        self._said: dict[str, str] = {}
        for folder in filter(None, (Path(config.results), mirror)):
            with writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
        self._finder = Finder(config)
        self._rotation = Rotation(config, settings)
        self._leases = Leases(config.lease_seconds)

    def run(self, *, once: bool) -> None:
        """Watch until stopped; `once`: until nothing is left to do, whoever does it."""
        while not self._stop.is_set():
            left, unsettled = self._round()
            if once and not left and not unsettled:
                break
            rest = self._config.poll_seconds
            self._rest(min(WAITS_SECONDS, rest) if once else rest)

    def _rest(self, seconds: float) -> None:
        """Wait; a signal may set `stop` at any moment, so nobody waits in it."""
        end = time.monotonic() + seconds
        while not self._stop.is_set() and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, MOMENT_SECONDS))

    def status(self) -> Status:
        """Say how everything stands."""
        return status_of(self._config, self._finder.look(), self._rotation.look())

    def _round(self) -> tuple[int, int]:
        """Do all that can be done now; return what others work on, and what waits to settle."""
        found = self._finder.look()
        unsettled = 0
        for one in found:
            if isinstance(one, IncompleteCheckpoint):
                unsettled += one.why.startswith("unchanged for")
                why = "unchanged for a while" if one.why.startswith("unchanged for") else one.why
                self._tell(one.path, f"not yet: {why}")
        left = 0
        jobs = list(self._jobs([one for one in found if isinstance(one, Checkpoint)]))
        for job in jobs:  # so that others see what waits
            if not job.folder.is_dir():
                begin(job)
        for job in jobs:
            if self._stop.is_set():
                break
            if not job.is_finished:
                left += not self._try(job)
        if self._mirror is not None:
            for place in mirror_all(Path(self._config.results), self._mirror):
                self._say(f"mirrored {place}")
        return left, unsettled

    def _jobs(self, checkpoints: list[Checkpoint]) -> Iterator[Job]:
        rotation = self._rotation.look()
        for name, why in rotation.items():
            self._tell(name, f"not in rotation: {why}" if why else "in rotation")
        for checkpoint in checkpoints:
            for name, why in rotation.items():
                if not why:
                    benchmark = self._rotation.benchmarks[name]
                    yield job_of(self._config, checkpoint, name, benchmark)

    def _tell(self, subject: str, what: str) -> None:
        """Say something, unless it was the last that was said of a subject."""
        if self._said.get(subject) != what:
            self._said[subject] = what
            self._say(f"{subject}: {what}")

    def _try(self, job: Job) -> bool:
        """Work on a job if nobody else does; return whether it is finished now."""
        failed = failures(job.folder)
        lease = self._leases.take(job.folder)
        if lease is None:
            return job.is_finished
        if job.is_finished:  # by the one who had it before
            lease.release(Why.FINISHED)
            return True
        with lease:
            self._say(f"{job.name}: attempt {lease.number}")
            try:
                said = self._work(job, lease, failed)
            except InputError as error:  # of one checkpoint; the others may do better
                said = self._failed(job, lease, failed, str(error))
            except ProctorError:
                lease.release(Why.INTERRUPTED, "its watcher gave up")
                raise
        if said is None:
            return False
        reason = f": {said.reason}" if said.reason else ""
        self._say(f"{job.name}: {said.standing}{reason}")
        return True

    def _work(self, job: Job, lease: Lease, failed: list[str]) -> Evaluated | None:
        """Do one attempt; return what came of the job if that was its last."""
        if (job.folder / RUN).is_dir():  # whoever had it before got as far as that
            return self._finished(job, lease)
        if len(failed) >= self._config.attempts:
            return self._failed(job, lease, failed[:-1], failed[-1])
        attempt = begin_attempt(job, lease.number)
        seconds = self._config.benchmark_seconds
        work = work_of(self._config, job, attempt)
        ended = carry_out(work, seconds, lambda: self._stop.is_set() or lease.lost.is_set())
        match ended.ending:
            case Ending.UNWANTED:
                lease.release(Why.INTERRUPTED)
                return None
            case Ending.FAILED:
                return self._failed(job, lease, failed, ended.said or "it ended without a word")
            case Ending.LATE:
                return self._late(job, lease, attempt)
        if not has_not_changed(job.checkpoint):
            return self._failed(job, lease, failed, "the checkpoint changed while it was evaluated")
        if not lease.holds():
            return None
        publish(job, attempt)
        return self._finished(job, lease)

    def _late(self, job: Job, lease: Lease, attempt: Path) -> Evaluated | None:
        """Write down what there was time for."""
        work = work_of(self._config, job, attempt, sum_up=True)
        summed = carry_out(work, SUM_UP_SECONDS, lease.lost.is_set)
        if not lease.holds():
            return None
        if summed.ending is Ending.DONE:
            publish(job, attempt)
        late = f"killed after {self._config.benchmark_seconds:g} s, the limit of one benchmark"
        return self._finished(job, lease, late=late)

    def _finished(self, job: Job, lease: Lease, *, late: str = "") -> Evaluated:
        said = finish(job, _attempts(job), late=late)
        lease.release(Why.FINISHED)
        return said

    def _failed(self, job: Job, lease: Lease, failed: list[str], why: str) -> Evaluated | None:
        """Let go of a job for another attempt, or for good."""
        if not lease.holds():
            return None
        lease.release(Why.FAILED, why)
        tried = len(failed) + 1
        self._say(f"{job.name}: attempt {lease.number} failed: {why}")
        if tried < self._config.attempts:
            return None
        return finish(job, tried, failed=f"{tried} attempts failed, the last one: {why}")


def _attempts(job: Job) -> int:
    return latest(job.folder)
