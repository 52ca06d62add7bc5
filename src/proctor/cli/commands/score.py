"""`proctor score`: judge completions that somebody recorded."""

import math
from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import options as o
from proctor.cli.engine_options import EngineOptions, backend_factory
from proctor.cli.run_plan import finish
from proctor.grading.evaluate import Plan
from proctor.models.recorded import RecordedSamples
from proctor.records.completion import Sampling
from proctor.results.agreement import read_recordings
from proctor.settings import load_settings


def score(
    benchmark: Annotated[str, typer.Argument(help="Benchmark by name, or path of a tasks file.")],
    completions: Annotated[Path, typer.Option(help="Samples file, or EvalPlus's folder.")],
    *,
    data: o.Data = None,
    release: o.Release = None,
    start_date: o.StartDate = None,
    end_date: o.EndDate = None,
    against: Annotated[
        str | None, typer.Option(help="Field of the samples, or file, with recorded verdicts.")
    ] = None,
    show: Annotated[int, typer.Option(min=0, help="How many differences to show.")] = 10,
    min_agreement: Annotated[
        float | None, typer.Option(min=0, max=1, help="Exit with 1 below this agreement.")
    ] = None,
    solution_field: Annotated[
        str | None, typer.Option(help="Field with a program to be run exactly as written.")
    ] = None,
    k: o.Ks = "",
    workers: o.Workers = 0,
    engine: o.EngineName = o.Engine.local,
    address: o.Address = None,
    batch_size: o.BatchSize = None,
    out: o.Out = None,
    fresh: o.Fresh = False,
    json: o.Json = False,
    sandbox: o.SandboxName = None,
    require: o.Require = None,
    timeout: o.Timeout = None,
    benchmark_timeout: o.BenchmarkTimeout = math.inf,
    memory: o.Memory = None,
    python: o.Python = o.DEFAULT_PYTHON,
    wasm: o.Wasm = None,
    candidate_packages: o.Packages = None,
    compare: o.CompareName = None,
    max_tests: o.MaxTests = None,
    early_stop: o.EarlyStop = False,
    extract: o.ExtractMode = o.Extract.auto,
    preamble: o.PreambleMode = o.Preamble.none,
    no_reuse: o.NoReuse = False,
    partial: o.Partial = False,
    seed: o.Seed = 0,
) -> None:
    """Judge recorded completions, print pass@k with its interval."""
    sandbox, python = o.in_wasm(wasm, sandbox, python)
    ways = EngineOptions(
        engine, address, batch_size, workers, sandbox, require, python, candidate_packages
    )
    settings = load_settings()
    open_walls = backend_factory(ways, settings)
    ks = o.parse_counts("--k", k)
    choice = o.choose(release, start_date, end_date)
    loaded, limits = o.open_benchmark(benchmark, data, timeout, memory, settings, choice=choice)
    samples = RecordedSamples(completions, solution_field)
    recorded = None if against is None else read_recordings(against, samples, loaded)
    plan = Plan(
        benchmark=loaded,
        model=samples,
        sampling=Sampling(seed=seed),
        options=o.grading(
            workers=ways.local_workers,
            benchmark=loaded,
            settings=settings,
            extract=extract,
            preamble=preamble,
            no_reuse=no_reuse,
            early_stop=early_stop,
            compare=compare,
            max_tests=max_tests,
        ),
        limits=limits,
        partial=partial,
        ks=ks,
        seconds=benchmark_timeout,
    )
    finish(
        plan,
        open_walls(plan),
        out,
        fresh=fresh,
        json=json,
        recorded=recorded,
        show=show,
        min_agreement=min_agreement,
    )
