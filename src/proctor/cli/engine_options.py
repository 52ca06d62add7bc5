"""Where a command judges: by a sandbox on this machine, or by a cluster."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from proctor.cli import setup
from proctor.cli.messages import complain
from proctor.cli.options import DEFAULT_PYTHON, Engine
from proctor.errors import InputError
from proctor.grading.engine import Backend
from proctor.grading.evaluate import Plan
from proctor.grading.ray.engine import BATCH_SIZE, RayEngine, open_ray_engine
from proctor.grading.ray.worker import WorkerSetup
from proctor.records.task import Benchmark
from proctor.sandbox import Sandbox
from proctor.settings import Settings


class EngineOptions(NamedTuple):
    """What the flags say."""

    engine: Engine
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
        return 0 if self.engine is Engine.ray else self.workers

    def check(self) -> None:
        """Refuse flags that would have no effect."""
        if self.engine is Engine.ray:
            return
        for flag, value in (("--address", self.address), ("--batch-size", self.batch_size)):
            if value is not None:
                raise InputError(f"{flag} {value}: it needs --engine ray")

    def open_sandbox(self, settings: Settings, benchmark: Benchmark | None = None) -> Sandbox:
        """Open a sandbox on this machine."""
        return setup.sandbox_for(
            settings,
            name=self.sandbox,
            require=self.require,
            python=self.python,
            packages=self.packages,
            benchmark=benchmark,
        )


def backend_factory(engine: EngineOptions, settings: Settings) -> Callable[[Plan], Backend]:
    """Return what opens what a plan is carried out with."""
    engine.check()

    def open_backend(plan: Plan) -> Backend:
        if engine.engine is Engine.ray:
            return cluster_for(engine, settings, plan.benchmark)
        return engine.open_sandbox(settings, plan.benchmark)

    return open_backend


def cluster_for(
    engine: EngineOptions, settings: Settings, benchmark: Benchmark | None = None
) -> RayEngine:
    """Open actors on a cluster, each with the sandbox that the flags ask for."""
    worker_setup = WorkerSetup(
        sandbox=engine.sandbox or settings.sandbox,
        require=engine.require,
        python=None if engine.python == DEFAULT_PYTHON else _placed(engine.python),
        packages=setup.candidate_packages(engine.packages, settings),
    )
    cluster = open_ray_engine(
        worker_setup,
        address=engine.address,
        workers=engine.workers,
        batch_size=engine.batch_size or BATCH_SIZE,
        benchmark=benchmark,
        say=complain,
    )
    setup.warn_if_bare(cluster.enforcement())
    return cluster


def _placed(file: str) -> str:
    """Return a file that is here by its full path: actors work in other folders."""
    return str(Path(file).absolute()) if Path(file).exists() else file
