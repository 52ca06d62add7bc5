"""`proctor run`: ask a model, judge what it says."""

import math
from typing import Annotated

import typer

from proctor.cli import model_options, options, setup
from proctor.cli.engine_options import EngineOptions, backend_factory
from proctor.cli.model_options import ModelOptions, open_model
from proctor.cli.run_plan import run_and_exit, run_suite_and_exit
from proctor.grading.evaluate import Plan
from proctor.models import RecordedModel
from proctor.models.generated import GenerativeModel
from proctor.records.limits import Limits
from proctor.records.task import Benchmark
from proctor.settings import load_settings


def run(
    benchmark: Annotated[
        str, typer.Argument(help="Benchmark by name, path of a tasks file, or several, as in a,b.")
    ],
    model: model_options.Model,
    *,
    data: options.Data = None,
    release: options.Release = None,
    start_date: options.StartDate = None,
    end_date: options.EndDate = None,
    samples: options.FirstTasks = 0,
    n_samples: model_options.NSamples = None,
    temperature: model_options.Temperature = None,
    top_p: model_options.TopP = None,
    top_k: model_options.TopK = None,
    max_tokens: model_options.MaxTokens = None,
    preset: model_options.Preset = None,
    prompt_strategy: model_options.PromptStrategy = None,
    mbpp_prompt: model_options.MbppPrompt = None,
    base_url: model_options.BaseUrl = None,
    chat: model_options.Chat = None,
    concurrency: model_options.Concurrency = None,
    request_timeout: model_options.RequestTimeout = None,
    batch: model_options.Batch = None,
    device: model_options.Device = None,
    k: options.Ks = "",
    workers: options.Workers = 0,
    engine: options.EngineName = options.Engine.local,
    address: options.Address = None,
    batch_size: options.BatchSize = None,
    out: options.Out = None,
    fresh: options.Fresh = False,
    json: options.Json = False,
    show: Annotated[int, typer.Option(min=0, help="Show so many receipts below.")] = 0,
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
    seed: model_options.Seed = 0,
) -> None:
    """Ask a model, judge its answers, print pass@k and its interval."""
    asking = ModelOptions(
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
    sandbox, python = setup.resolve_wasm(wasm, sandbox, python)
    engine_options = EngineOptions(
        engine, address, batch_size, workers, sandbox, require, python, candidate_packages
    )
    settings = load_settings()
    open_backend = backend_factory(engine_options, settings)
    subset = setup.parse_selection(release, start_date, end_date)
    loaded = setup.open_benchmarks(
        benchmark, data, settings, timeout=timeout, memory=memory, selection=subset, first=samples
    )

    def plan_for(
        one: Benchmark, limits: Limits | None, chosen: RecordedModel | GenerativeModel
    ) -> Plan:
        grading = setup.grading_options(
            workers=engine_options.local_workers, benchmark=one, settings=settings,
            extract=extract, preamble=preamble, no_reuse=no_reuse,
            early_stop=early_stop, compare=compare, max_tests=max_tests,
        )  # fmt: skip
        return Plan(
            benchmark=one,
            model=chosen,
            sampling=asking.sampling(),
            options=grading,
            limits=limits,
            partial=partial,
            ks=setup.parse_counts("--k", k),
            seconds=benchmark_timeout,
        )

    with open_model(asking, settings) as chosen:
        plans = [plan_for(one, limits, chosen) for one, limits in loaded]
        if len(plans) == 1:
            run_and_exit(
                plans[0], open_backend(plans[0]), out, fresh=fresh, json=json, receipts=show
            )
        else:
            run_suite_and_exit(
                benchmark, plans, open_backend, out, fresh=fresh, json=json, receipts=show
            )
