"""`proctor run`: ask a model, judge what it says."""

from typing import Annotated

import typer

from proctor.cli import options as o
from proctor.cli.finish import finish, finish_suite


def run(
    benchmark: Annotated[
        str, typer.Argument(help="Benchmark by name, path of a tasks file, or several, as in a,b.")
    ],
    model: Annotated[str, typer.Option(help="reference, wrong or recorded:FILE.")],
    *,
    data: o.Data = None,
    release: o.Release = None,
    start_date: o.StartDate = None,
    end_date: o.EndDate = None,
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
    from proctor.benchmarks.suites import members  # noqa: PLC0415
    from proctor.completion import Sampling  # noqa: PLC0415
    from proctor.errors import InputError  # noqa: PLC0415
    from proctor.evaluation import Plan  # noqa: PLC0415
    from proctor.models import open_model  # noqa: PLC0415
    from proctor.sandbox import Sandbox  # noqa: PLC0415
    from proctor.settings import load_settings  # noqa: PLC0415

    settings = load_settings()
    chosen = open_model(model)
    ks = o.parse_counts("--k", k)

    def plan_for(name: str) -> Plan:
        choice = o.choose(release, start_date, end_date)
        loaded, limits = o.open_benchmark(name, data, timeout, memory, settings, choice=choice)
        if samples:
            loaded = loaded.first(samples)
        return Plan(
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

    def open_walls(plan: Plan) -> Sandbox:
        return o.sandbox_for(
            sandbox, require, python, candidate_packages, settings, benchmark=plan.benchmark
        )

    names = members(benchmark)
    if len(names) > 1 and data is not None and not data.is_dir():
        raise InputError(f"--data {data}: must be a folder, since several benchmarks are asked for")
    plans = [plan_for(name) for name in names]
    if len(plans) == 1:
        finish(plans[0], open_walls(plans[0]), out, fresh=fresh, json=json)
    else:
        finish_suite(benchmark, plans, open_walls, out, fresh=fresh, json=json)
