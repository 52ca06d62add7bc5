"""`proctor evalplus`: the command line and the files of `evalplus.evaluate`, judged by us."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import options, setup
from proctor.cli.run_plan import DEGRADED, carry_out
from proctor.grading.evaluate import Plan
from proctor.integrations import evalplus as peer
from proctor.models.recorded import RecordedSamples
from proctor.records.task import Task
from proctor.report.export import ExportedRun, export
from proctor.report.text import printable
from proctor.settings import load_settings

BaseOnly = Annotated[
    bool, typer.Option("--base-only", "--base_only", help="Run the original tests alone.")
]
Again = Annotated[
    bool,
    typer.Option(
        "--i-just-wanna-run", "--i_just_wanna_run", help="Judge again though there are results."
    ),
]
Details = Annotated[
    bool,
    typer.Option("--test-details", "--test_details", help="Write down every input that failed."),
]
LeastTime = Annotated[
    float | None,
    typer.Option("--min-time-limit", "--min_time_limit", help="Seconds that a task has at least."),
]
Factor = Annotated[
    float | None,
    typer.Option(
        "--gt-time-limit-factor",
        "--gt_time_limit_factor",
        help="How many times as long as the reference a solution may take.",
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option("--output-file", "--output_file", help="Results, if not beside the samples."),
]


def evalplus(
    *,
    dataset: Annotated[str, typer.Option(help="humaneval or mbpp.")],
    samples: Annotated[Path, typer.Option(help="Samples file, or EvalPlus's folder.")],
    base_only: BaseOnly = False,
    parallel: Annotated[int, typer.Option(min=0, help="Samples judged at once; 0: all cores.")] = 0,
    i_just_wanna_run: Again = False,
    test_details: Details = False,
    min_time_limit: LeastTime = None,
    gt_time_limit_factor: Factor = None,
    mini: Annotated[bool, typer.Option("--mini", help="HumanEval+ mini; needs --data.")] = False,
    noextreme: Annotated[
        bool, typer.Option("--noextreme", help="Without extreme inputs; needs --data.")
    ] = False,
    version: Annotated[str, typer.Option(help="Version of the data.")] = "default",
    output_file: OutputFile = None,
    data: options.Data = None,
    out: options.Out = None,
    sandbox: options.SandboxName = None,
    require: options.Require = None,
    python: options.Python = options.DEFAULT_PYTHON,
    wasm: options.Wasm = None,
) -> None:
    """Take the flags of evalplus.evaluate, judge by our engine, print and write as it does."""
    settings = load_settings()
    sandbox, python = setup.resolve_wasm(wasm, sandbox, python)
    variant = "mini" if mini else "noextreme" if noextreme else ""
    place = peer.data_of(dataset, data, variant=variant, version=version)
    results = output_file or peer.results_of(samples)
    if results.is_file() and not i_just_wanna_run:
        typer.echo(f"Load from previous results from {printable(str(results))}")
        _print(dataset, results, base_only=base_only)
        return
    setup.limits_for(min_time_limit, None, settings)  # which refuses what nobody may have

    def change(task: Task) -> Task:
        factor = gt_time_limit_factor
        return peer.changed(task, base_only=base_only, seconds=min_time_limit, factor=factor)

    name = peer.BENCHMARKS[dataset]
    benchmark, _ = setup.open_benchmark(name, place, settings, also=change)
    plan = Plan(
        benchmark=benchmark,
        model=RecordedSamples(samples),
        options=setup.grading_options(
            workers=parallel,
            benchmark=benchmark,
            settings=settings,
            extract=options.Extract.never,
        ),
    )
    box = setup.sandbox_for(
        settings, name=sandbox, require=require, python=python, benchmark=benchmark
    )
    summary = carry_out(plan, box, out)
    _write(Path(summary.run_dir), results, details=test_details)
    _print(dataset, results, base_only=base_only)
    if summary.degraded:
        raise typer.Exit(DEGRADED)


def _write(run_dir: Path, results: Path, *, details: bool) -> None:

    run = ExportedRun(run_dir, every_failure=details)
    backup = peer.make_room(results)
    if backup is not None:
        typer.echo(f"Backup {printable(str(results))} to {printable(str(backup))}")
    export(run, "evalplus-results", results)


def _print(dataset: str, results: Path, *, base_only: bool) -> None:

    found = peer.figures(peer.read_results(results), base_only=base_only)
    typer.echo("\n".join(peer.lines(dataset, found)))
