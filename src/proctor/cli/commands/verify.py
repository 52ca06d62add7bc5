"""`proctor verify`: run a part of a run again and list flakes."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import options, setup
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
    data: options.Data = None,
    workers: options.Workers = 0,
    json: options.Json = False,
    sandbox: options.SandboxName = None,
    require: options.Require = None,
    python: options.Python = options.DEFAULT_PYTHON,
    wasm: options.Wasm = None,
    candidate_packages: options.Packages = None,
    compare: options.CompareName = None,
    seed: options.Seed = 0,
) -> None:
    """Judge a part of a run's samples again and list every verdict that differs."""
    settings = load_settings()
    sandbox, python = setup.resolve_wasm(wasm, sandbox, python)
    manifest = read_manifest(run)

    def open_sandbox(benchmark: Benchmark) -> Sandbox:
        tier = sandbox or manifest.enforcement.tier
        return setup.sandbox_for(
            settings,
            name=tier,
            require=require,
            python=python,
            packages=candidate_packages,
            benchmark=benchmark,
        )

    found = judge_again(
        run,
        manifest,
        open_sandbox,
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
