"""`proctor run`: ask a model, judge what it says."""

from typing import Annotated

import typer

from proctor.cli import options as o
from proctor.cli.finish import finish


def run(
    benchmark: Annotated[str, typer.Argument(help="Benchmark by name, or path of a tasks file.")],
    model: Annotated[str, typer.Option(help="reference, wrong or recorded:FILE.")],
    *,
    data: o.Data = None,
    samples: Annotated[int, typer.Option(min=0, help="Take the first so many tasks; 0: all.")] = 0,
    n_samples: Annotated[int, typer.Option(min=1, help="Completions of each task.")] = 1,
    k: o.Ks = "",
    workers: o.Workers = 0,
    out: o.Out = None,
    fresh: o.Fresh = False,
    json: o.Json = False,
    sandbox: o.SandboxName = None,
    require: o.Require = None,
    timeout: o.Timeout = None,
    memory: o.Memory = None,
    python: o.Python = o.DEFAULT_PYTHON,
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
    """Ask a model, judge its answers, print pass@k and its interval."""
    from proctor.completion import Sampling  # noqa: PLC0415
    from proctor.evaluation import Plan  # noqa: PLC0415
    from proctor.models import open_model  # noqa: PLC0415
    from proctor.settings import load_settings  # noqa: PLC0415

    settings = load_settings()
    chosen = open_model(model)
    ks = o.parse_counts("--k", k)
    loaded, limits = o.open_benchmark(benchmark, data, timeout, memory, settings)
    if samples:
        loaded = loaded.first(samples)
    plan = Plan(
        benchmark=loaded,
        model=chosen,
        sampling=Sampling(n_samples=n_samples, seed=seed),
        options=o.grading(
            workers=workers,
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
    )
    finish(
        plan,
        o.sandbox_for(sandbox, require, python, candidate_packages, settings),
        out,
        fresh=fresh,
        json=json,
    )
