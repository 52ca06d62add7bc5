"""`proctor score`: judge completions that somebody recorded."""

import math
from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import options, setup
from proctor.cli.engine_options import EngineOptions, backend_factory
from proctor.cli.run_plan import run_and_exit
from proctor.grading.evaluate import Plan
from proctor.models.recorded import RecordedSamples
from proctor.records.completion import Sampling
from proctor.results.agreement import read_recordings
from proctor.settings import load_settings


def score(
    benchmark: Annotated[str, typer.Argument(help="Benchmark by name, or path of a tasks file.")],
    completions: Annotated[Path, typer.Option(help="Samples file, or EvalPlus's folder.")],
    *,
    data: options.Data = None,
    release: options.Release = None,
    start_date: options.StartDate = None,
    end_date: options.EndDate = None,
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
    k: options.Ks = "",
    workers: options.Workers = 0,
    engine: options.EngineName = options.Engine.local,
    address: options.Address = None,
    batch_size: options.BatchSize = None,
    out: options.Out = None,
    fresh: options.Fresh = False,
    json: options.Json = False,
    sandbox: options.SandboxName = None,
    require: options.Require = None,
    timeout: options.Timeout = None,
    benchmark_timeout: options.BenchmarkTimeout = math.inf,
    memory: options.Memory = None,
    python: options.Python = options.DEFAULT_PYTHON,
    wasm: options.Wasm = None,
    candidate_packages: options.Packages = None,
    compare: options.CompareName = None,
    max_tests: options.MaxTests = None,
    early_stop: options.EarlyStop = False,
    extract: options.ExtractMode = options.Extract.auto,
    preamble: options.PreambleMode = options.Preamble.none,
    no_reuse: options.NoReuse = False,
    partial: options.Partial = False,
    seed: options.Seed = 0,
) -> None:
    """Judge recorded completions, print pass@k with its interval."""
    sandbox, python = setup.resolve_wasm(wasm, sandbox, python)
    engine_options = EngineOptions(
        engine, address, batch_size, workers, sandbox, require, python, candidate_packages
    )
    settings = load_settings()
    open_backend = backend_factory(engine_options, settings)
    ks = setup.parse_counts("--k", k)
    selection = setup.parse_selection(release, start_date, end_date)
    loaded, limits = setup.open_benchmark(
        benchmark, data, settings, timeout=timeout, memory=memory, selection=selection
    )
    samples = RecordedSamples(completions, solution_field)
    recorded = None if against is None else read_recordings(against, samples, loaded)
    plan = Plan(
        benchmark=loaded,
        model=samples,
        sampling=Sampling(seed=seed),
        options=setup.grading_options(
            workers=engine_options.local_workers,
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
    run_and_exit(
        plan,
        open_backend(plan),
        out,
        fresh=fresh,
        json=json,
        recorded=recorded,
        show=show,
        min_agreement=min_agreement,
    )
