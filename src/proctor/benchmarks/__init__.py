"""The benchmarks that are known by name, and tasks files by path.

A benchmark is a row of the table: where its publisher keeps it, under which licence, the sha256
of its content, and which shape its rows have. Its file is looked for in this order: `--data`, the
data folder of the settings, a package that carries it, the cache of earlier downloads. Nothing is
downloaded unless asked for by `proctor benchmarks NAME --download`.
"""

import hashlib
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

import msgspec

from proctor.benchmarks import humaneval, mbpp, tasks_file
from proctor.errors import InputError
from proctor.lines import Line, open_bytes, read_lines
from proctor.task import Benchmark, Task

CHUNK = 1 << 20


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table."""

    name: str
    summary: str
    tasks: int
    file: str
    """The publisher's file name; `.gz` behind it is fine, too."""
    url: str
    licence: str
    sha256: str
    """Of the uncompressed content."""
    load: Callable[[Iterable[Line]], list[Task]]
    package: tuple[str, str] | None = None
    """A Python package that carries the file, and the extra that installs it."""
    alias: Callable[[str], list[str]] = lambda _: []
    """Other spellings of a task id that samples files use."""


GITHUB = "https://raw.githubusercontent.com"
HUMAN_EVAL_COMMIT = "6d43fb980f9fee3c892a914eda09951f772ad10d"

TABLE = {
    source.name: source
    for source in (
        Source(
            name="humaneval",
            summary="164 hand-written functions to complete (Chen et al. 2021)",
            tasks=164,
            file="HumanEval.jsonl",
            url=f"{GITHUB}/openai/human-eval/{HUMAN_EVAL_COMMIT}/data/HumanEval.jsonl.gz",
            licence="MIT",
            sha256="1d49078ba3e2b196b9344535bef34a43021f038fad9561d6ee7c53450609a6a2",
            load=humaneval.load,
            package=("human_eval", "humaneval"),
        ),
        Source(
            name="mbpp",
            summary="974 short functions to write from a sentence (Austin et al. 2021)",
            tasks=974,
            file="mbpp.jsonl",
            url=f"{GITHUB}/google-research/google-research/master/mbpp/mbpp.jsonl",
            licence="CC BY 4.0",
            sha256="ccf64ceae9c5403bf50a044cb6d505bfd2a2963ee58338ba268fd65beab92a9f",
            load=mbpp.load,
            alias=mbpp.aliases,
        ),
        Source(
            name="mbpp-sanitized",
            summary="427 tasks of MBPP that people checked",
            tasks=427,
            file="sanitized-mbpp.json",
            url=f"{GITHUB}/google-research/google-research/master/mbpp/sanitized-mbpp.json",
            licence="CC BY 4.0",
            sha256="ca95deaa9a01ef0a6f439f88bcf0dd3db3563d22f22aad6cae04ebb9a8d8c8e9",
            load=mbpp.load,
            alias=mbpp.aliases,
        ),
    )
}


def load(name: str, data: Path | None = None, folder: Path | None = None) -> Benchmark:
    """Return a benchmark by its name or by the path of a tasks file."""
    source = TABLE.get(name)
    if source is None:
        path = Path(name)
        if not path.exists():
            known = ", ".join(TABLE)
            raise InputError(f"{name}: no such benchmark or tasks file; known are {known}")
        return _checked(path.name.partition(".")[0], path, _load_for(path))
    path = find(source, data, folder)
    return _checked(name, path, source.load, source.alias)


def find(source: Source, data: Path | None = None, folder: Path | None = None) -> Path:
    """Return the file of a benchmark, or say where it could come from."""
    if data is not None:
        return _within(data, source) or data
    for place in (folder, _package_folder(source), cache_folder()):
        found = None if place is None else _within(place, source)
        if found is not None:
            return found
    install = f"pip install 'proctor[{source.package[1]}]', or " if source.package else ""
    raise InputError(
        f"{source.name}: {source.file} is not on this machine; {install}"
        f"proctor benchmarks {source.name} --download, or --data PATH"
    )


def is_pinned(path: Path, source: Source) -> bool:
    """Say whether a file is the very one that the table names."""
    digest = hashlib.sha256()
    with open_bytes(path) as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest() == source.sha256


def cache_folder() -> Path:
    """Return where downloads are kept."""
    return Path.home() / ".cache" / "proctor" / "data"


def _within(place: Path, source: Source) -> Path | None:
    if not place.is_dir():
        return None
    for folder in (place, place / source.name, place / source.name.partition("-")[0]):
        for suffix in ("", ".gz", ".zst"):
            if (folder / (source.file + suffix)).is_file():
                return folder / (source.file + suffix)
    return None


def _package_folder(source: Source) -> Path | None:
    spec = find_spec(source.package[0]) if source.package else None
    return Path(spec.origin).parent / "data" if spec and spec.origin else None


def _load_for(path: Path) -> Callable[[Iterable[Line]], list[Task]]:
    """Choose a loader by the fields of the first row."""
    first = next(iter(read_lines(path)), None)
    if first is None:
        raise InputError(f"{path}: there are no tasks in it")
    fields = first.decode(dict[str, msgspec.Raw])
    if "tests" not in fields and "test_list" in fields:
        return mbpp.load
    if "tests" not in fields and "test" in fields:
        return humaneval.load
    return tasks_file.load


def _checked(
    name: str,
    path: Path,
    load_tasks: Callable[[Iterable[Line]], list[Task]],
    alias: Callable[[str], list[str]] = lambda _: [],
) -> Benchmark:
    """Load tasks and make sure that their ids tell them apart."""
    tasks = load_tasks(read_lines(path))
    if not tasks:
        raise InputError(f"{path}: there are no tasks in it")
    seen: dict[str, int] = {}
    for number, task in enumerate(tasks, 1):
        if task.task_id in seen:
            raise InputError(
                f"{path}, line {number}: task_id {task.task_id!r} stands in line "
                f"{seen[task.task_id]} already"
            )
        seen[task.task_id] = number
    aliases = {other: task.task_id for task in tasks for other in alias(task.task_id)}
    return Benchmark(name=name, tasks=tasks, source=str(path), aliases=aliases)
