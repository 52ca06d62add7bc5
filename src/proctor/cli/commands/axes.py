"""`proctor axes`: candidates in C++ on four axes."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.axes.labels import compare, read_labels
from proctor.axes.measure import Axes, groups_of, measure_axes
from proctor.axes.parser import Parser
from proctor.benchmarks.repository_tasks import folders
from proctor.cli import options, setup
from proctor.cli.progress import StepBar
from proctor.cli.rejudge import benchmark_of
from proctor.cli.run_plan import carry_out
from proctor.errors import InputError
from proctor.grading.evaluate import Plan
from proctor.models.recorded import RecordedSamples
from proctor.records.completion import Sampling
from proctor.records.receipt import Manifest
from proctor.records.task import Benchmark
from proctor.report import json as as_json
from proctor.report.axes import findings, sections, worth
from proctor.report.section import terminal_lines
from proctor.report.text import printable
from proctor.settings import Settings, load_settings
from proctor.storage.run_directory import AXES, MANIFEST, pretty, read_manifest, write_whole


def axes(
    what: Annotated[str, typer.Argument(help="Run directory, benchmark, or path of tasks.")],
    *,
    completions: Annotated[
        Path | None, typer.Option(help="Samples file, which is judged first; not with a run.")
    ] = None,
    labelled: Annotated[
        bool,
        typer.Option(
            "--labelled", help="Read the answers with known findings; exit with 1 if any is missed."
        ),
    ] = False,
    data: options.Data = None,
    workers: options.Workers = 0,
    out: options.Out = None,
    fresh: options.Fresh = False,
    json: options.Json = False,
    partial: options.Partial = False,
    seed: options.Seed = 0,
) -> None:
    """Say of answers in C++ whether they compile, keep to their context, invent, are right."""
    settings = load_settings()
    if labelled:
        _check(what, settings, json=json)
        return
    run = Path(what)
    if not (run / MANIFEST).is_file():
        if completions is None:
            raise InputError(f"{what} is no run; --completions must say what to judge")
        run = _judge(
            what,
            completions,
            data,
            workers=workers,
            out=out,
            settings=settings,
            seed=seed,
            fresh=fresh,
            partial=partial,
        )
        data = None
    elif completions is not None or out is not None:
        raise InputError(f"{what} is a run: neither --completions nor --out goes with it")
    manifest = read_manifest(run)
    found = _measure(run, manifest, data, workers=workers, settings=settings, seed=seed)
    write_whole(run / AXES, pretty(found))
    if json:
        typer.echo(as_json.render(found))
        return
    shown = [one for one in (*sections(found), findings(found)) if one.rows]
    typer.echo(f"{printable(found.benchmark)} · {printable(found.model)}")
    for section in shown:
        typer.echo("\n".join(terminal_lines(section)))
    typer.echo(f"\n  {printable(found.parser)}\n  {printable(found.run_dir)}")


def _check(what: str, settings: Settings, *, json: bool) -> None:
    """Say what the axes are worth here."""
    benchmark, _ = setup.open_benchmark(what, None, settings)
    labels = read_labels(folders(Path(benchmark.source)))
    sandbox = setup.sandbox_for(settings)
    try:
        parser = Parser(sandbox)
        with StepBar("reading", len({label.task for label in labels})) as bar:
            found = compare(parser, benchmark.finder(), labels, bar.step)
    finally:
        sandbox.close()
    if json:
        typer.echo(as_json.render(found))
    else:
        typer.echo(f"{found.right} of {found.answers} answers are read as they are labelled")
        for section in worth(found):
            typer.echo("\n".join(terminal_lines(section)))
    if found.misses:
        raise typer.Exit(1)


def _judge(
    name: str,
    completions: Path,
    data: Path | None,
    *,
    workers: int,
    out: Path | None,
    settings: Settings,
    seed: int,
    fresh: bool,
    partial: bool,
) -> Path:
    """Judge completions as `proctor score` does, and return the run directory."""
    loaded, limits = setup.open_benchmark(name, data, settings)
    plan = Plan(
        benchmark=loaded,
        model=RecordedSamples(completions, None),
        sampling=Sampling(seed=seed),
        options=setup.grading_options(
            workers=workers,
            benchmark=loaded,
            settings=settings,
        ),
        limits=limits,
        partial=partial,
    )
    sandbox = setup.sandbox_for(settings, benchmark=loaded)
    return Path(carry_out(plan, sandbox, out, fresh=fresh).run_dir)


def _measure(
    run: Path,
    manifest: Manifest,
    data: Path | None,
    *,
    workers: int,
    settings: Settings,
    seed: int,
) -> Axes:

    benchmark: Benchmark = benchmark_of(run, manifest, data, settings)
    sandbox = setup.sandbox_for(settings)
    try:
        parser = Parser(sandbox)
        with StepBar("reading", groups_of(run, manifest, benchmark)) as bar:
            count = setup.workers_for(workers, settings, benchmark)
            return measure_axes(
                run, manifest, benchmark, parser, workers=count, seed=seed, step=bar.step
            )
    finally:
        sandbox.close()
