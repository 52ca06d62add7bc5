"""`proctor contract`: what a benchmark must prove before it is relied on."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.checks.contract import LINES, examine
from proctor.checks.contract.evidence import Contract, ContractSubject, contract_subject
from proctor.checks.contract.result import Result
from proctor.checks.contract.result_store import store_result
from proctor.cli import options, setup
from proctor.cli.interrupt import Interrupt
from proctor.cli.messages import INTERRUPTED, complain
from proctor.cli.progress import ContractBar
from proctor.records.task import Benchmark
from proctor.report import contract as text
from proctor.report import json as as_json
from proctor.sandbox import Sandbox
from proctor.settings import Settings, load_settings
from proctor.storage.run_directory import pretty, write_out

NOT_KEPT = 1


def contract(
    benchmark: Annotated[str, typer.Argument(help="Benchmark by name, or path of a tasks file.")],
    *,
    data: options.Data = None,
    samples: options.FirstTasks = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result to this file, too.")] = None,
    workers: options.Workers = 0,
    json: options.Json = False,
    sandbox: options.SandboxName = None,
    require: options.Require = None,
    python: options.Python = options.DEFAULT_PYTHON,
    wasm: options.Wasm = None,
    candidate_packages: options.Packages = None,
) -> None:
    """Look whether a benchmark keeps its contract, so that it may be relied on."""
    settings = load_settings()
    sandbox, python = setup.resolve_wasm(wasm, sandbox, python)
    subject = contract_subject(benchmark, data, setup.data_folder(settings))
    source = subject.source
    try:
        box = setup.sandbox_for(
            settings,
            name=sandbox,
            require=require,
            python=python,
            packages=candidate_packages,
            benchmark=Benchmark(name=source.name, tasks=(), packages=source.libraries),
        )
        result = _examine(subject, box, settings, first=samples, workers=workers)
    except KeyboardInterrupt:
        complain("interrupted; nothing was written")
        raise typer.Exit(INTERRUPTED) from None
    store_result(result)
    if out is not None:
        write_out(out, pretty(result).decode())
    typer.echo(as_json.render(result) if json else text.render(result), nl=json)
    if not result.holds:
        raise typer.Exit(NOT_KEPT)


def _examine(
    subject: ContractSubject, sandbox: Sandbox, settings: Settings, *, first: int, workers: int
) -> Result:
    """Look at every line under a progress bar, then close the sandbox."""
    interrupt = Interrupt()
    try:
        with ContractBar(len(LINES)) as lines:
            exam = Contract(subject, sandbox, first=first, watch=lines.watch, stop=interrupt.stop)
            if exam.facts.is_fit:
                exam.workers = setup.workers_for(workers, settings, exam.benchmark)
            interrupt.listen()
            return examine(exam, begin=lines.begin)
    finally:
        interrupt.restore()
        sandbox.close()
