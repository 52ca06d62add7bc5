"""Flags that several commands share, and what they mean."""

import re
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from proctor.benchmarks import is_pinned, load
from proctor.benchmarks.registry import TABLE
from proctor.benchmarks.selection import Selection, parse_day
from proctor.benchmarks.suites import members
from proctor.errors import InputError, boundary
from proctor.grading.prepare import Options
from proctor.judge.checker import find_checker_problem
from proctor.judge.comparators import KNOWN, parse_profile
from proctor.judge.judgement import Rules
from proctor.records.execution import Enforcement, Limits
from proctor.records.task import Benchmark, Task
from proctor.report.text import printable
from proctor.sandbox import Sandbox
from proctor.sandbox.limits.memory_budget import admit_workers
from proctor.sandbox.tiers.select import open_sandbox
from proctor.settings import MOST_WORKERS, Settings, default_workers
from proctor.storage.jsonl import MAX_LINE

DEFAULT_PYTHON = sys.executable
LEAST_MEMORY, MOST_MEMORY = 32 << 20, 1 << 50
"""An interpreter does not start in less; more than the most is a slip."""
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


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
    typer.Option(min=0, max=MOST_WORKERS, help="Samples graded at once; 0: one a processor."),
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


def parse_counts(flag: str, text: str) -> list[int]:
    """Read a list of whole numbers above 0."""
    if not text.strip():
        return []
    parts = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch("[1-9][0-9]{0,8}", part) for part in parts):
        raise InputError(f"{flag} {text}: must be whole numbers above 0, as in 1,10,100")
    return [int(part) for part in parts]


def parse_packages(text: str) -> list[str]:
    """Read a list of packages."""
    parts = [] if text.strip() == "none" else [part.strip() for part in text.split(",")]
    if not all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", part) for part in parts):
        raise InputError(f"--candidate-packages {text}: write it as numpy,pandas or none")
    return parts


def parse_bytes(text: str) -> int:
    """Read an amount of memory."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower(), re.ASCII)
    if match is None:
        raise InputError(f"--memory {text}: write it as 512MiB or 2G")
    size = float(match[1]) * UNITS[match[2]]
    if not LEAST_MEMORY <= size <= MOST_MEMORY:
        least, most = LEAST_MEMORY >> 20, MOST_MEMORY >> 40
        raise InputError(f"--memory {text}: must be from {least} MiB to {most} TiB")
    return int(size)


def choose(release: str | None, start: str | None, end: str | None) -> Selection:
    """Gather which tasks of a benchmark are asked for."""
    first, last = parse_day("--start-date", start), parse_day("--end-date", end)
    if first is not None and last is not None and first > last:
        raise InputError(f"--start-date {start}: is after --end-date {end}")
    return Selection(release=release, start=first, end=last)


def open_benchmark(
    name: str,
    data: Path | None,
    timeout: float | None,
    memory: str | None,
    settings: Settings,
    *,
    choice: Selection | None = None,
    also: Callable[[Task], Task] = lambda task: task,
) -> tuple[Benchmark, Limits | None]:
    """Load a benchmark and put limits of the command line in place of the tasks' own."""
    new = limits_for(timeout, memory, settings)
    folder = None if settings.data is None else Path(settings.data)

    def change(task: Task) -> Task:
        return also(task.limited(new(task.limits), final=timeout is not None))

    benchmark = load(name, data, folder, choice, change)
    if name in TABLE and is_pinned(Path(benchmark.source), TABLE[name]) is False:
        source = printable(benchmark.source)
        typer.echo(f"proctor: {source} is not the file that {name} is published as", err=True)
    return benchmark, None if timeout is None and memory is None else new(Limits())


def open_benchmarks(
    names: str,
    data: Path | None,
    timeout: float | None,
    memory: str | None,
    settings: Settings,
    *,
    choice: Selection,
    first: int,
) -> list[tuple[Benchmark, Limits | None]]:
    """Load one benchmark or several, all of their tasks or the first ones."""
    each = members(names)
    if len(each) > 1 and data is not None and not data.is_dir():
        raise InputError(f"--data {data}: must be a folder, since several benchmarks are asked for")
    loaded = [open_benchmark(one, data, timeout, memory, settings, choice=choice) for one in each]
    return [(one.first(first) if first else one, limits) for one, limits in loaded]


def limits_for(
    timeout: float | None, memory: str | None, settings: Settings
) -> Callable[[Limits], Limits]:
    """Return what the limits of the command line make of others."""
    if timeout is not None and not 0 < timeout <= settings.max_seconds:
        raise InputError(
            f"--timeout {timeout:g}: must be above 0 and up to {settings.max_seconds:g}"
        )
    size = None if memory is None else parse_bytes(memory)

    def new(limits: Limits) -> Limits:
        limits = limits if timeout is None else limits.with_seconds(timeout)
        return limits if size is None else msgspec.structs.replace(limits, memory_bytes=size)

    return new


def workers_for(workers: int, settings: Settings, benchmark: Benchmark) -> int:
    """Return how many samples to grade at once, so that their limits fit into memory.

    Who asks for more gets more, and is told.
    """
    fitting = max(1, admit_workers(max(1, benchmark.memory_bytes)))
    asked = workers or settings.workers
    if asked and asked > fitting:
        typer.echo(
            f"proctor: {asked} workers may use more memory than there is to spare: "
            f"their limits fit for {fitting}",
            err=True,
        )
    return asked or min(default_workers(), fitting)


def grading(
    *,
    workers: int,
    benchmark: Benchmark,
    settings: Settings,
    extract: Extract,
    preamble: Preamble,
    no_reuse: bool,
    early_stop: bool,
    compare: str | None,
    max_tests: int | None,
) -> Options:
    """Gather what decides how samples are graded."""
    checker = None
    if compare is not None and compare.startswith("checker:"):
        checker, compare = read_checker(compare.removeprefix("checker:")), None
    elif compare is not None:
        try:
            parse_profile(compare, default="exact")
        except InputError as error:
            raise InputError(f"--{error}") from None
    return Options(
        extract=extract.value,
        preamble=preamble.value,
        reuse=not no_reuse,
        workers=workers_for(workers, settings, benchmark),
        rules=Rules(early_stop=early_stop, compare=compare, checker=checker, max_tests=max_tests),
        doubt=benchmark.name not in TABLE,
    )


def read_checker(file: str) -> str:
    """Read the code of a checker that --compare names."""
    with boundary(InputError, f"--compare checker:{file}"), Path(file).open("rb") as opened:
        content = opened.read(MAX_LINE)
    try:
        code = content.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"--compare checker:{file}: not UTF-8: {error}") from None
    trouble = find_checker_problem(code)
    if trouble is not None:
        raise InputError(f"--compare checker:{file}: {trouble}")
    return code


def in_wasm(wasm: Path | None, sandbox: str | None, python: str) -> tuple[str | None, str]:
    """Return which sandbox and which interpreter are meant, where --wasm may name both."""
    if wasm is None:
        return sandbox, python
    if sandbox not in (None, "wasm"):
        raise InputError(f"--wasm {wasm}: that is for --sandbox wasm, not for {sandbox}")
    if wasm.suffix != ".wasm" or not wasm.is_file():
        raise InputError(f"--wasm {wasm}: there is no such file, or it is not called NAME.wasm")
    return "wasm", str(wasm)


def sandbox_for(
    name: str | None,
    require: str | None,
    python: str,
    packages: str | None,
    settings: Settings,
    *,
    benchmark: Benchmark | None = None,
) -> Sandbox:
    """Open the sandbox, with what a benchmark's solutions import, and warn if it is none."""
    chosen = settings.candidate_packages if packages is None else parse_packages(packages)
    wished = () if benchmark is None else benchmark.packages
    tier = name or settings.sandbox
    sandbox = open_sandbox(tier, python, require, chosen, wished)
    warn_if_bare(sandbox.enforcement())
    return sandbox


def warn_if_bare(found: Enforcement) -> None:
    """Say so if candidates are not isolated."""
    if not found.isolated:
        typer.echo(f"proctor: candidates run in the {found.tier} tier, NOT ISOLATED", err=True)
    if found.tier == "wasm":
        typer.echo(
            "proctor: candidates run in the wasm tier: no threads, processes, numpy", err=True
        )
