"""Where a command judges: by a sandbox on this machine, or by a cluster."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from proctor.cli import complain
from proctor.cli import options as o
from proctor.errors import InputError
from proctor.grading.engine import Backend
from proctor.grading.evaluate import Plan
from proctor.records.task import Benchmark
from proctor.settings import Settings

if TYPE_CHECKING:
    from proctor.grading.ray.engine import RayEngine


class EngineOptions(NamedTuple):
    """What the flags say."""

    engine: o.Engine
    address: str | None
    batch_size: int | None
    workers: int
    """0 if nobody says."""
    sandbox: str | None
    require: str | None
    python: str
    packages: str | None

    @property
    def local_workers(self) -> int:
        """How many samples this machine judges at once, as asked for."""
        return 0 if self.engine is o.Engine.ray else self.workers

    def check(self) -> None:
        """Refuse flags that would have no effect."""
        if self.engine is o.Engine.ray:
            return
        for flag, value in (("--address", self.address), ("--batch-size", self.batch_size)):
            if value is not None:
                raise InputError(f"{flag} {value}: it needs --engine ray")


def backend_factory(ways: EngineOptions, settings: Settings) -> Callable[[Plan], Backend]:
    """Return what opens what a plan is carried out with."""
    ways.check()

    def open_walls(plan: Plan) -> Backend:
        if ways.engine is o.Engine.ray:
            return cluster_for(ways, settings, plan.benchmark)
        how = (ways.sandbox, ways.require, ways.python, ways.packages, settings)
        return o.sandbox_for(*how, benchmark=plan.benchmark)

    return open_walls


def cluster_for(
    ways: EngineOptions, settings: Settings, benchmark: Benchmark | None = None
) -> "RayEngine":
    """Open stations on a cluster, each with the sandbox that the flags ask for."""
    from proctor.grading.ray.engine import BATCH_SIZE, open_ray_engine  # noqa: PLC0415
    from proctor.grading.ray.worker import WorkerSetup  # noqa: PLC0415

    packages = ways.packages
    setup = WorkerSetup(
        sandbox=ways.sandbox or settings.sandbox,
        require=ways.require,
        python=None if ways.python == o.DEFAULT_PYTHON else _placed(ways.python),
        packages=settings.candidate_packages if packages is None else o.parse_packages(packages),
    )
    cluster = open_ray_engine(
        setup,
        address=ways.address,
        workers=ways.workers,
        batch_size=ways.batch_size or BATCH_SIZE,
        benchmark=benchmark,
        say=complain,
    )
    o.warn_if_bare(cluster.enforcement())
    return cluster


def _placed(file: str) -> str:
    """Return a file that is here by its full path: stations work in other folders."""
    return str(Path(file).absolute()) if Path(file).exists() else file
