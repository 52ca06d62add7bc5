"""`proctor verify`: run a part of a run again and list flakes."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import options as o
from proctor.cli.rejudge import judge_again
from proctor.records.task import Benchmark
from proctor.report import json as as_json
from proctor.report import verify as text
from proctor.sandbox import Sandbox
from proctor.settings import load_settings
from proctor.storage.run_directory import read_manifest


def verify(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    *,
    share: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="How much of it to run again; 1: all.")
    ] = 0.1,
    data: o.Data = None,
    workers: o.Workers = 0,
    json: o.Json = False,
    sandbox: o.SandboxName = None,
    require: o.Require = None,
    python: o.Python = o.DEFAULT_PYTHON,
    wasm: o.Wasm = None,
    candidate_packages: o.Packages = None,
    compare: o.CompareName = None,
    seed: o.Seed = 0,
) -> None:
    """Judge a part of a run's samples again and list every verdict that differs."""
    settings = load_settings()
    sandbox, python = o.in_wasm(wasm, sandbox, python)
    manifest = read_manifest(run)

    def open_walls(benchmark: Benchmark) -> Sandbox:
        tier = sandbox or manifest.enforcement.tier
        return o.sandbox_for(
            tier, require, python, candidate_packages, settings, benchmark=benchmark
        )

    found = judge_again(
        run,
        manifest,
        open_walls,
        settings,
        data=data,
        workers=workers,
        share=share,
        compare=compare,
        seed=seed,
    )
    typer.echo(as_json.render(found) if json else text.render(found), nl=json)
    if found.flakes or found.unscored:
        raise typer.Exit(1)
