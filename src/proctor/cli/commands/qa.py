"""`proctor qa`: the gate before figures are published."""

import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from proctor.benchmarks import load
from proctor.checks.qa.gate import GateResult, inspect_run
from proctor.checks.qa.policy import Policy, read_policy
from proctor.cli import options, setup
from proctor.cli.messages import complain
from proctor.cli.model_options import ModelOptions, open_model
from proctor.cli.rejudge import comparator_of, judge_again, source_of
from proctor.cli.run_plan import carry_out
from proctor.errors import InputError
from proctor.grading.evaluate import Plan
from proctor.grading.receipts import software_versions
from proctor.grading.verify import Verified
from proctor.records.receipt import Manifest
from proctor.records.task import Benchmark
from proctor.report import json as as_json
from proctor.report import qa as text
from proctor.report.export import is_run
from proctor.results.summary import Summary
from proctor.sandbox import Sandbox
from proctor.settings import Settings, load_settings
from proctor.storage.run_directory import read_manifest, write_out
from proctor.watch.checkpoints import Checkpoint, content_digest
from proctor.watch.job_state import CHECKPOINT, RUN, Known, known, known_jobs
from proctor.watch.leases import read_record

NOT_PASSED = 1


def qa(
    subject: Annotated[Path, typer.Argument(help="Run directory, or a checkpoint.")],
    policy: Annotated[Path, typer.Option(help="TOML file: what is asked of it.")],
    *,
    results: Annotated[
        Path | None, typer.Option(help="Where `proctor watch` keeps results of checkpoints.")
    ] = None,
    badge: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Write a badge for a report.")
    ] = None,
    data: options.Data = None,
    workers: options.Workers = 0,
    json: options.Json = False,
    sandbox: options.SandboxName = None,
    python: options.Python = options.DEFAULT_PYTHON,
    wasm: options.Wasm = None,
    candidate_packages: options.Packages = None,
    compare: options.CompareName = None,
) -> None:
    """Look whether a run, or all runs of a checkpoint, may be published, line by line."""
    sandbox, python = setup.resolve_wasm(wasm, sandbox, python)
    flags = _GateOptions(
        settings=load_settings(),
        data=data,
        workers=workers,
        sandbox=sandbox,
        python=python,
        packages=candidate_packages,
        compare=compare,
    )
    checked = _check(subject, read_policy(policy), policy, results, flags)
    if badge is not None:
        write_out(badge, text.badge(checked))
    typer.echo(as_json.render(checked) if json else text.render(checked), nl=json)
    if not checked.passed:
        raise typer.Exit(NOT_PASSED)


class _GateOptions(NamedTuple):
    """What the flags say."""

    settings: Settings
    data: Path | None
    workers: int
    sandbox: str | None
    python: str
    packages: str | None
    compare: str | None


def _check(
    subject: Path, policy: Policy, name: Path, results: Path | None, flags: _GateOptions
) -> GateResult:
    """Look at a run, or at all runs of a checkpoint."""
    runs, missing = _runs(subject, results)
    gates = [inspect_run(run, policy, _Runner(run, flags), _say(run)) for run in runs]
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


class _Runner:
    """Runs what a gate has to run, as the run itself was judged."""

    def __init__(self, run: Path, flags: _GateOptions) -> None:
        self._run, self._flags = run, flags
        self._manifest: Manifest = read_manifest(run)

    def benchmark(self) -> Benchmark:
        """See Means."""
        folder = self._flags.settings.data
        name, place = source_of(self._manifest, self._flags.data)
        return load(name, place, None if folder is None else Path(folder))

    def _open_sandbox(self, benchmark: Benchmark) -> Sandbox:
        flags = self._flags
        tier = flags.sandbox or self._manifest.enforcement.tier
        return setup.sandbox_for(
            flags.settings,
            name=tier,
            python=flags.python,
            packages=flags.packages,
            benchmark=benchmark,
        )

    def evaluate(self, model: str, tasks: int | None) -> Summary:
        """See Means."""
        manifest, flags = self._manifest, self._flags
        whole = self.benchmark()
        benchmark = whole.first(tasks) if tasks else whole
        grading = setup.grading_options(
            workers=flags.workers,
            benchmark=benchmark,
            settings=flags.settings,
            extract=options.Extract(manifest.extract),
            preamble=options.Preamble(manifest.preamble),
            no_reuse=not manifest.reuse,
            early_stop=manifest.early_stop,
            compare=comparator_of(manifest, flags.compare),
            max_tests=manifest.max_tests,
        )
        asking = ModelOptions(model=model, seed=manifest.sampling.seed)
        asking.check()
        with (
            open_model(asking, flags.settings) as opened,
            tempfile.TemporaryDirectory(prefix="proctor-qa-") as scratch,
        ):
            plan = Plan(
                benchmark=benchmark, model=opened, sampling=asking.sampling(), options=grading
            )
            return carry_out(plan, self._open_sandbox(benchmark), Path(scratch) / "run")

    def verify(self, share: float) -> Verified:
        """See Means."""
        return judge_again(
            self._run,
            self._manifest,
            self._open_sandbox,
            self._flags.settings,
            data=self._flags.data,
            workers=self._flags.workers,
            share=share,
            compare=self._flags.compare,
            seed=0,
        )
