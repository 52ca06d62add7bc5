"""How everything stands that watchers share: for people, for scripts, and for the viewer."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.watch.checkpoints import Checkpoint, IncompleteCheckpoint
from proctor.watch.config import Config
from proctor.watch.job_state import Known, Standing, known_jobs

UNFINISHED = (Standing.WAITING, Standing.RUNNING)


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs, benchmarks, and what may become a checkpoint."""

    results: str
    jobs: Sequence[Known]
    rotation: Mapping[str, str]
    """Benchmarks, and why each is not in rotation on this host; empty for one that is."""
    incomplete: Mapping[str, str]
    """Paths that may become checkpoints, and what each waits for."""
    schema: int = 1

    @property
    def degraded(self) -> bool:
        """Whether somebody should look: at a job, or at a benchmark that is not in rotation."""
        bad = (job.standing not in (*UNFINISHED, Standing.DONE) for job in self.jobs)
        return any(bad) or any(self.rotation.values())


def status_of(
    config: Config, found: Sequence[Checkpoint | IncompleteCheckpoint], rotation: Mapping[str, str]
) -> Status:
    """Gather how everything stands."""
    jobs = list(known_jobs(Path(config.results)))
    known = {job.checkpoint.path for job in jobs}
    waiting = {one.path: one.why for one in found if isinstance(one, IncompleteCheckpoint)}
    return Status(
        results=config.results,
        jobs=jobs,
        rotation=rotation,
        incomplete={path: why for path, why in waiting.items() if path not in known},
    )
