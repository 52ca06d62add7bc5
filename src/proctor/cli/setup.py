"""From what the flags say to what a command works with: benchmarks, limits, sandboxes, workers."""

import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec
import typer

from proctor.benchmarks import TABLE, is_pinned, load
from proctor.benchmarks.selection import Selection, parse_day
from proctor.benchmarks.suites import members
from proctor.cli.options import DEFAULT_PYTHON, Extract, Preamble
from proctor.errors import InputError, boundary
from proctor.grading.prepare import Options
from proctor.judge.checker import find_checker_problem
from proctor.judge.comparators import parse_profile
from proctor.judge.judgement import Rules
from proctor.records.execution import Enforcement
from proctor.records.limits import Limits
from proctor.records.task import Benchmark, Task
from proctor.report.text import printable
from proctor.sandbox import Sandbox
from proctor.sandbox.limits.memory_budget import admit_workers
from proctor.sandbox.tiers.select import open_sandbox
from proctor.settings import Settings, default_workers
from proctor.storage.jsonl import MAX_LINE

MIN_MEMORY, MAX_MEMORY = 32 << 20, 1 << 50
"""An interpreter does not start in less; a larger value is a typing error."""
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


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
    if not MIN_MEMORY <= size <= MAX_MEMORY:
        min_mib, max_tib = MIN_MEMORY >> 20, MAX_MEMORY >> 40
        raise InputError(f"--memory {text}: must be from {min_mib} MiB to {max_tib} TiB")
    return int(size)


def parse_selection(release: str | None, start: str | None, end: str | None) -> Selection:
    """Gather which tasks of a benchmark are asked for."""
    first, last = parse_day("--start-date", start), parse_day("--end-date", end)
    if first is not None and last is not None and first > last:
        raise InputError(f"--start-date {start}: is after --end-date {end}")
    return Selection(release=release, start=first, end=last)


def data_folder(settings: Settings) -> Path | None:
    """Return the folder of benchmark data that the settings name."""
    return None if settings.data is None else Path(settings.data)


def open_benchmark(
    name: str,
    data: Path | None,
    settings: Settings,
    *,
    timeout: float | None = None,
    memory: str | None = None,
    selection: Selection | None = None,
    also: Callable[[Task], Task] = lambda task: task,
) -> tuple[Benchmark, Limits | None]:
    """Load a benchmark and put limits of the command line in place of the tasks' own."""
    new = limits_for(timeout, memory, settings)

    def change(task: Task) -> Task:
        return also(task.limited(new(task.limits), final=timeout is not None))

    benchmark = load(name, data, data_folder(settings), selection, change)
    if name in TABLE and is_pinned(Path(benchmark.source), TABLE[name]) is False:
        source = printable(benchmark.source)
        typer.echo(f"proctor: {source} is not the file that {name} is published as", err=True)
    return benchmark, None if timeout is None and memory is None else new(Limits())


def open_benchmarks(
    names: str,
    data: Path | None,
    settings: Settings,
    *,
    timeout: float | None,
    memory: str | None,
    selection: Selection,
    first: int,
) -> list[tuple[Benchmark, Limits | None]]:
    """Load one benchmark or several, all of their tasks or the first ones."""
    each = members(names)
    if len(each) > 1 and data is not None and not data.is_dir():
        raise InputError(f"--data {data}: must be a folder, since several benchmarks are asked for")
    loaded = [
        open_benchmark(one, data, settings, timeout=timeout, memory=memory, selection=selection)
        for one in each
    ]
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


def service_workers(workers: int, settings: Settings) -> int:
    """Return how many programs of unknown tasks to run at once, if each takes the usual memory."""
    fitting = max(1, admit_workers(Limits().memory_bytes))
    return workers or settings.workers or min(default_workers(), fitting)


def grading_options(
    *,
    workers: int,
    benchmark: Benchmark,
    settings: Settings,
    extract: Extract = Extract.auto,
    preamble: Preamble = Preamble.none,
    no_reuse: bool = False,
    early_stop: bool = False,
    compare: str | None = None,
    max_tests: int | None = None,
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
        confirm_failures=benchmark.name not in TABLE,
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


def resolve_wasm(wasm: Path | None, sandbox: str | None, python: str) -> tuple[str | None, str]:
    """Return which sandbox and which interpreter are meant, where --wasm may name both."""
    if wasm is None:
        return sandbox, python
    if sandbox not in (None, "wasm"):
        raise InputError(f"--wasm {wasm}: that is for --sandbox wasm, not for {sandbox}")
    if wasm.suffix != ".wasm" or not wasm.is_file():
        raise InputError(f"--wasm {wasm}: there is no such file, or it is not called NAME.wasm")
    return "wasm", str(wasm)


def sandbox_for(
    settings: Settings,
    *,
    name: str | None = None,
    require: str | None = None,
    python: str = DEFAULT_PYTHON,
    packages: str | None = None,
    benchmark: Benchmark | None = None,
) -> Sandbox:
    """Open the sandbox, with what a benchmark's solutions import, and warn if it is none."""
    wished = () if benchmark is None else benchmark.packages
    tier = name or settings.sandbox
    sandbox = open_sandbox(tier, python, require, candidate_packages(packages, settings), wished)
    warn_if_bare(sandbox.enforcement())
    return sandbox


def candidate_packages(packages: str | None, settings: Settings) -> list[str] | None:
    """Return the packages that --candidate-packages names, or the settings."""
    return settings.candidate_packages if packages is None else parse_packages(packages)


def warn_if_bare(found: Enforcement) -> None:
    """Say so if candidates are not isolated."""
    if not found.isolated:
        typer.echo(f"proctor: candidates run in the {found.tier} tier, NOT ISOLATED", err=True)
    if found.tier == "wasm":
        typer.echo(
            "proctor: candidates run in the wasm tier: no threads, processes, numpy", err=True
        )


def require_installed(what: str, packages: Sequence[str]) -> None:
    """Refuse to start what needs packages of the extra `serve` without them."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise InputError(
            f"{what} needs {', '.join(missing)}; "
            "install it with pip install '.[serve]' in Proctor's folder"
        )
