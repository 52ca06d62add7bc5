"""`proctor convert`: runs and samples as other tools have them."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.benchmarks import load
from proctor.cli import options, setup
from proctor.errors import InputError
from proctor.grading.prepare import Options
from proctor.report import json as as_json
from proctor.report.export import FORMATS, ExportedRun, ExportedSamples, is_run
from proctor.report.export import export as write
from proctor.report.text import printable
from proctor.settings import load_settings


def convert(
    source: Annotated[Path, typer.Argument(help="Run directory, or samples of any tool.")],
    *,
    to: Annotated[
        str,
        typer.Option(
            help="samples, human-eval, evalplus, evalplus-folder, evalplus-results, bigcode, "
            "livecodebench or multipl-e."
        ),
    ],
    out: Annotated[Path, typer.Option(help="File or folder to write.")],
    benchmark: Annotated[
        str | None, typer.Option(help="What the samples answer; a run knows it.")
    ] = None,
    data: options.Data = None,
    extract: options.ExtractMode = options.Extract.auto,
    preamble: options.PreambleMode = options.Preamble.none,
    json: options.Json = False,
) -> None:
    """Write a run, or samples of another tool, in another tool's format."""
    if to not in FORMATS:
        raise InputError(f"--to {to}: no such format; known are {', '.join(FORMATS)}")
    found: ExportedRun | ExportedSamples
    if is_run(source):
        found = ExportedRun(source)
    elif benchmark is None:
        raise InputError(f"{source} is no run; say with --benchmark what its samples answer")
    else:
        settings = load_settings()
        loaded = load(benchmark, data, setup.data_folder(settings))
        preparation = Options(extract=extract.value, preamble=preamble.value)
        found = ExportedSamples(source, loaded, preparation)
    done = write(found, to, out)
    left = f"; {done.unscored} unscored samples are left out" if done.unscored else ""
    text = f"{done.samples} samples of {done.tasks} tasks: {done.out}{left}"
    typer.echo(as_json.render(done) if json else printable(text))
    if done.unscored:
        raise typer.Exit(1)
