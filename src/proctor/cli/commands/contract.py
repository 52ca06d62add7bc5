"""`proctor contract`: what a benchmark must prove before it is relied on."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.checks.contract.evidence import contract_subject
from proctor.checks.contract.result_store import store_result
from proctor.cli import INTERRUPTED, complain
from proctor.cli import options as o
from proctor.cli.commands.contract_examine import carry_out
from proctor.report import contract as text
from proctor.report import json as as_json
from proctor.settings import load_settings
from proctor.storage.run_directory import pretty, write_out

NOT_KEPT = 1


def contract(
    benchmark: Annotated[str, typer.Argument(help="Benchmark by name, or path of a tasks file.")],
    *,
    data: o.Data = None,
    samples: o.FirstTasks = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result to this file, too.")] = None,
    workers: o.Workers = 0,
    json: o.Json = False,
    sandbox: o.SandboxName = None,
    require: o.Require = None,
    python: o.Python = o.DEFAULT_PYTHON,
    wasm: o.Wasm = None,
    candidate_packages: o.Packages = None,
) -> None:
    """Look whether a benchmark keeps its contract, so that it may be relied on."""
    settings = load_settings()
    sandbox, python = o.in_wasm(wasm, sandbox, python)
    folder = None if settings.data is None else Path(settings.data)
    subject = contract_subject(benchmark, data, folder)

    walls = (sandbox, require, python, candidate_packages, settings)
    try:
        result = carry_out(subject, walls, first=samples, workers=workers)
    except KeyboardInterrupt:
        complain("interrupted; nothing was written")
        raise typer.Exit(INTERRUPTED) from None
    store_result(result)
    if out is not None:
        write_out(out, pretty(result).decode())
    typer.echo(as_json.render(result) if json else text.render(result), nl=json)
    if not result.holds:
        raise typer.Exit(NOT_KEPT)
