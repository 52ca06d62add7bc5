"""A sandbox whose jobs run on a cluster; what lives on, as notebooks do, is on this machine."""

from typing import Any, cast

from proctor.grading.ray.engine import RayEngine
from proctor.records.execution import Execution
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox import Sandbox
from proctor.sandbox.supervisor.job import Job


def open_remote_sandbox(cluster: RayEngine, here: Sandbox) -> Sandbox:
    """Return a sandbox here that has the cluster run what is run once."""
    return cast("Sandbox", _Abroad(cluster, here))


class _Abroad:
    def __init__(self, cluster: RayEngine, here: Sandbox) -> None:
        self._cluster = cluster
        self._here = here

    def run(self, program: Program, limits: Limits, stdin: bytes = b"") -> Execution:
        return self.run_job(Job(program=program, limits=limits, stdin=stdin))

    def run_job(self, job: Job) -> Execution:
        return self._cluster.run_job(job)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._here, name)
