"""Find the runs that a gate looks at, and run what it has to run."""

import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from proctor.benchmarks import load
from proctor.checks.qa.gate import GateResult, inspect_run
from proctor.checks.qa.policy import Policy
from proctor.cli import complain
from proctor.cli import model_options as a
from proctor.cli import options as o
from proctor.cli.rejudge import comparator_of, judge_again, source_of
from proctor.cli.run_plan import carry_out
from proctor.errors import InputError
from proctor.grading.evaluate import Plan
from proctor.grading.receipts import software_versions
from proctor.grading.verify import Verified
from proctor.records.receipt import Manifest
from proctor.records.task import Benchmark
from proctor.report.export import is_run
from proctor.results.summary import Summary
from proctor.sandbox import Sandbox
from proctor.settings import Settings
from proctor.storage.run_directory import read_manifest
from proctor.watch.checkpoints import Checkpoint, content_digest
from proctor.watch.job_state import CHECKPOINT, RUN, Known, known, known_jobs
from proctor.watch.leases import read_record


class GateOptions(NamedTuple):
    """What the flags say."""

    settings: Settings
    data: Path | None
    workers: int
    sandbox: str | None
    python: str
    packages: str | None
    compare: str | None


def check(
    subject: Path, policy: Policy, name: Path, results: Path | None, ways: GateOptions
) -> GateResult:
    """Look at a run, or at all runs of a checkpoint."""
    runs, missing = _runs(subject, results)
    gates = [inspect_run(run, policy, Runner(run, ways), _say(run)) for run in runs]
    if not is_run(subject):
        there = {gate.benchmark for gate in gates} | missing.keys()
        asked = {one: "there is no run of it" for one in policy.benchmark if one not in there}
        missing = {**missing, **asked}
    return GateResult(
        subject=str(subject),
        policy=str(name),
        passed=bool(gates) and not missing and all(gate.passed for gate in gates),
        gates=gates,
        missing=missing,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        host=socket.gethostname(),
        versions=software_versions(),
    )


def _say(run: Path) -> Callable[[str], None]:
    """Return what tells those who wait which line is looked at."""

    def say(line: str) -> None:
        if sys.stderr.isatty():
            complain(f"{run}: {line}")

    return say


def _runs(subject: Path, results: Path | None) -> tuple[list[Path], Mapping[str, str]]:
    """Return the runs of what somebody named, and the benchmarks that came to nothing."""
    if is_run(subject):
        return [subject], {}
    checkpoint = read_record(subject / CHECKPOINT, Checkpoint)
    if checkpoint is not None and results is None:
        folders = [path for path in sorted(subject.iterdir()) if path.is_dir()]
        jobs = [known(checkpoint, folder) for folder in folders]
    elif results is None:
        raise InputError(
            f"{subject} is no run directory; for a checkpoint, say by --results where "
            f"proctor watch keeps what came of it"
        )
    else:
        jobs = _of_checkpoint(subject, results)
    runs = [Path(job.folder, RUN) for job in jobs]
    missing = {
        job.benchmark: f"{job.standing}: {job.reason}" if job.reason else str(job.standing)
        for job, run in zip(jobs, runs, strict=True)
        if not (job.evaluated and is_run(run))
    }
    return [run for run in runs if is_run(run)], missing


def _of_checkpoint(subject: Path, results: Path) -> list[Known]:
    """Return what came of a checkpoint with the content that it has now."""
    path = subject.resolve()
    jobs = [job for job in known_jobs(results) if job.checkpoint.path == str(path)]
    if not jobs:
        raise InputError(f"{results}: nothing is known of the checkpoint {path}")
    now = content_digest(path)
    same = [job for job in jobs if job.checkpoint.fingerprint == now]
    if not same:
        raise InputError(f"{path} has changed since it was evaluated; evaluate it again")
    return same


class Runner:
    """Runs what a gate has to run, as the run itself was judged."""

    def __init__(self, run: Path, ways: GateOptions) -> None:
        self._run, self._ways = run, ways
        self._manifest: Manifest = read_manifest(run)

    def benchmark(self) -> Benchmark:
        """See Means."""
        folder = self._ways.settings.data
        name, place = source_of(self._manifest, self._ways.data)
        return load(name, place, None if folder is None else Path(folder))

    def _walls(self, benchmark: Benchmark) -> Sandbox:
        ways = self._ways
        tier = ways.sandbox or self._manifest.enforcement.tier
        return o.sandbox_for(
            tier, None, ways.python, ways.packages, ways.settings, benchmark=benchmark
        )

    def evaluate(self, model: str, tasks: int | None) -> Summary:
        """See Means."""
        manifest, ways = self._manifest, self._ways
        whole = self.benchmark()
        benchmark = whole.first(tasks) if tasks else whole
        options = o.grading(
            workers=ways.workers,
            benchmark=benchmark,
            settings=ways.settings,
            extract=o.Extract(manifest.extract),
            preamble=o.Preamble(manifest.preamble),
            no_reuse=not manifest.reuse,
            early_stop=manifest.early_stop,
            compare=comparator_of(manifest, ways.compare),
            max_tests=manifest.max_tests,
        )
        asking = a.ModelOptions(model=model, seed=manifest.sampling.seed)
        asking.check()
        with (
            a.opened(asking, ways.settings) as opened,
            tempfile.TemporaryDirectory(prefix="proctor-qa-") as scratch,
        ):
            plan = Plan(
                benchmark=benchmark, model=opened, sampling=asking.sampling(), options=options
            )
            return carry_out(plan, self._walls(benchmark), Path(scratch) / "run")

    def verify(self, share: float) -> Verified:
        """See Means."""
        return judge_again(
            self._run,
            self._manifest,
            self._walls,
            self._ways.settings,
            data=self._ways.data,
            workers=self._ways.workers,
            share=share,
            compare=self._ways.compare,
            seed=0,
        )
