"""Flags that several commands share."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from proctor.judge.comparators import KNOWN
from proctor.settings import MAX_WORKERS

DEFAULT_PYTHON = sys.executable


class Extract(StrEnum):
    """How code is found in completions."""

    auto = "auto"
    never = "never"


class Engine(StrEnum):
    """Where samples are judged."""

    local = "local"
    ray = "ray"


class Preamble(StrEnum):
    """What stands in front of every program."""

    none = "none"
    base = "base"


Ks = Annotated[str, typer.Option("--k", help="Which pass@k to print, as in 1,10,100.")]
Workers = Annotated[
    int,
    typer.Option(min=0, max=MAX_WORKERS, help="Samples graded at once; 0: one a processor."),
]
EngineName = Annotated[
    Engine, typer.Option("--engine", help="Judge on this machine, or on those of a Ray cluster.")
]
Address = Annotated[
    str | None,
    typer.Option(help="Ray cluster, as HOST:PORT or auto; one is started here if none is named."),
]
BatchSize = Annotated[
    int | None,
    typer.Option(min=1, max=4096, help="Programs sent at once by --engine ray.", show_default="16"),
]
Out = Annotated[Path | None, typer.Option(help="Run directory; an existing one is resumed.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start over in an existing run directory.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
SandboxName = Annotated[
    str | None, typer.Option("--sandbox", help="auto, kernel, docker, contained, wasm or portable.")
]
Require = Annotated[str | None, typer.Option(help="Refuse to run in a lesser sandbox than this.")]
BenchmarkTimeout = Annotated[
    float,
    typer.Option(
        min=0, help="Seconds for all samples together; those left are cancelled (no limit)."
    ),
]
Timeout = Annotated[float | None, typer.Option(help="Seconds, in place of the tasks' own limit.")]
Memory = Annotated[str | None, typer.Option(help="Memory limit, as in 512MiB or 2G.")]
Python = Annotated[
    str, typer.Option(help="Interpreter that runs candidates.", show_default="this one")
]
Wasm = Annotated[
    Path | None,
    typer.Option(
        "--wasm", help="Run candidates in this WASI build of Python, in the wasm sandbox."
    ),
]
Packages = Annotated[
    str | None,
    typer.Option(
        "--candidate-packages",
        help="Installed packages that candidates may import, as in numpy,pandas; none: no package.",
    ),
]
CompareName = Annotated[
    str | None,
    typer.Option(
        "--compare", help=f"How outputs are compared: {KNOWN}, or checker:FILE of Python."
    ),
]
MaxTests = Annotated[int | None, typer.Option(min=1, help="Run at most so many cases a task.")]
EarlyStop = Annotated[bool, typer.Option("--early-stop", help="Stop at the first failed test.")]
ExtractMode = Annotated[
    Extract, typer.Option("--extract", help="Find code in answers, or take prompt + answer as is.")
]
PreambleMode = Annotated[Preamble, typer.Option(help="Put the usual imports in front.")]
NoReuse = Annotated[bool, typer.Option("--no-reuse", help="Run identical programs again.")]
Partial = Annotated[bool, typer.Option("--partial", help="Accept tasks without completions.")]
Seed = Annotated[int, typer.Option(help="Seed of the bootstrap.")]
FirstTasks = Annotated[int, typer.Option(min=0, help="Take the first so many tasks; 0: all.")]
Data = Annotated[Path | None, typer.Option(help="File or folder of the benchmark's data.")]
Release = Annotated[
    str | None, typer.Option(help="Release of a benchmark that has some, as in release_v5.")
]
StartDate = Annotated[
    str | None, typer.Option(help="Leave out problems older than this, as in 2024-08-01.")
]
EndDate = Annotated[
    str | None, typer.Option(help="Leave out problems newer than this, as in 2025-01-31.")
]
