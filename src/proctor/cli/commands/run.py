"""`proctor run`: ask a model, judge what it says."""

import math
from typing import Annotated

import typer

from proctor.cli import model_options as a
from proctor.cli import options as o
from proctor.cli.engine_options import EngineOptions, backend_factory
from proctor.cli.run_plan import finish, finish_suite
from proctor.grading.evaluate import Plan
from proctor.models import RecordedModel
from proctor.models.generated import GenerativeModel
from proctor.records.execution import Limits
from proctor.records.task import Benchmark
from proctor.settings import load_settings


def run(
    benchmark: Annotated[
        str, typer.Argument(help="Benchmark by name, path of a tasks file, or several, as in a,b.")
    ],
    model: a.Model,
    *,
    data: o.Data = None,
    release: o.Release = None,
    start_date: o.StartDate = None,
    end_date: o.EndDate = None,
    samples: o.FirstTasks = 0,
    n_samples: a.NSamples = None,
    temperature: a.Temperature = None,
    top_p: a.TopP = None,
    top_k: a.TopK = None,
    max_tokens: a.MaxTokens = None,
    preset: a.Preset = None,
    prompt_strategy: a.PromptStrategy = None,
    mbpp_prompt: a.MbppPrompt = None,
    base_url: a.BaseUrl = None,
    chat: a.Chat = None,
    concurrency: a.Concurrency = None,
    request_timeout: a.RequestTimeout = None,
    batch: a.Batch = None,
    device: a.Device = None,
    k: o.Ks = "",
    workers: o.Workers = 0,
    engine: o.EngineName = o.Engine.local,
    address: o.Address = None,
    batch_size: o.BatchSize = None,
    out: o.Out = None,
    fresh: o.Fresh = False,
    json: o.Json = False,
    show: Annotated[int, typer.Option(min=0, help="Show so many receipts below.")] = 0,
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
    seed: a.Seed = 0,
) -> None:
    """Ask a model, judge its answers, print pass@k and its interval."""
    asking = a.ModelOptions(
        model=model,
        seed=seed,
        n_samples=n_samples,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        max_tokens=max_tokens,
        preset=preset,
        prompt_strategy=prompt_strategy,
        mbpp_prompt=mbpp_prompt,
        base_url=base_url,
        chat=chat,
        concurrency=concurrency,
        request_timeout=request_timeout,
        batch=batch,
        device=device,
    )
    asking.check()
    sandbox, python = o.in_wasm(wasm, sandbox, python)
    ways = EngineOptions(
        engine, address, batch_size, workers, sandbox, require, python, candidate_packages
    )
    settings = load_settings()
    open_walls = backend_factory(ways, settings)
    choice = o.choose(release, start_date, end_date)
    loaded = o.open_benchmarks(
        benchmark, data, timeout, memory, settings, choice=choice, first=samples
    )

    def plan_for(
        one: Benchmark, limits: Limits | None, chosen: RecordedModel | GenerativeModel
    ) -> Plan:
        grading = o.grading(
            workers=ways.local_workers,
            benchmark=one,
            settings=settings,
            extract=extract,
            preamble=preamble,
            no_reuse=no_reuse,
            early_stop=early_stop,
            compare=compare,
            max_tests=max_tests,
        )
        return Plan(
            benchmark=one,
            model=chosen,
            sampling=asking.sampling(),
            options=grading,
            limits=limits,
            partial=partial,
            ks=o.parse_counts("--k", k),
            seconds=benchmark_timeout,
        )

    with a.opened(asking, settings) as chosen:
        plans = [plan_for(one, limits, chosen) for one, limits in loaded]
        if len(plans) == 1:
            finish(plans[0], open_walls(plans[0]), out, fresh=fresh, json=json, receipts=show)
        else:
            finish_suite(benchmark, plans, open_walls, out, fresh=fresh, json=json, receipts=show)
