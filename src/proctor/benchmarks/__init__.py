"""The benchmarks that are known by name, and tasks files by path.

A benchmark is a row of the table: where its publisher keeps it, under which licence, the sha256
of its content, and which shape its rows have. Its file is looked for in this order: `--data`, the
data folder of the settings, a package that carries it, the cache of earlier downloads. Nothing is
downloaded unless asked for by `proctor benchmarks NAME --download`. What is our own comes with
Proctor and is always there.
"""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from proctor.benchmarks import humaneval, mbpp, tasks_file
from proctor.errors import InputError, boundary
from proctor.lines import Line, brief, is_folder, read_lines, sha256_of, spelt_out
from proctor.settings import home
from proctor.task import Benchmark, Task

Read = Callable[[Line], Task]
Alias = Callable[[str], list[str]]


def no_alias(task_id: str) -> list[str]:
    """Return no other spelling of a task's id."""
    del task_id
    return []


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table."""

    name: str
    summary: str
    tasks: int
    file: str
    """The publisher's file name; `.gz` behind it is fine, too."""
    licence: str
    sha256: str
    """Of the uncompressed content."""
    read: Read
    url: str | None = None
    """Where its publisher keeps it; None: it comes with Proctor."""
    package: tuple[str, str] | None = None
    """A Python package that carries the file, and the extra that installs it."""
    alias: Alias = no_alias
    """Other spellings of a task id that samples files use."""


OWN_FOLDER = Path(__file__).parent.parent / "data"
GITHUB = "https://raw.githubusercontent.com"
HUMAN_EVAL_COMMIT = "6d43fb980f9fee3c892a914eda09951f772ad10d"

TABLE = {
    source.name: source
    for source in (
        Source(
            name="basics",
            summary="54 small tasks of all kinds, easy to hard; needs no download",
            tasks=54,
            file="basics.toml",
            licence="MIT",
            sha256="8e54742d9dab9521819292389c466863bf0a942279629d94343cb62addfe7286",
            read=tasks_file.read,
        ),
        Source(
            name="humaneval",
            summary="164 hand-written functions to complete (Chen et al. 2021)",
            tasks=164,
            file="HumanEval.jsonl",
            url=f"{GITHUB}/openai/human-eval/{HUMAN_EVAL_COMMIT}/data/HumanEval.jsonl.gz",
            licence="MIT",
            sha256="1d49078ba3e2b196b9344535bef34a43021f038fad9561d6ee7c53450609a6a2",
            read=humaneval.read,
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
            read=mbpp.read,
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
            read=mbpp.read,
            alias=mbpp.aliases,
        ),
    )
}


def load(name: str, data: Path | None = None, folder: Path | None = None) -> Benchmark:
    """Return a benchmark by its name or by the path of a tasks file."""
    source = TABLE.get(name)
    if source is not None:
        return _load(name, find(source, data, folder), source.read, source.alias)
    path = Path(name)
    with boundary(InputError, f"cannot read {name}"):
        if not path.exists():
            known = ", ".join(TABLE)
            raise InputError(f"{name}: no such benchmark or tasks file; known are {known}")
    if data is not None:
        raise InputError(f"--data {data}: {name} is a file itself and needs no other")
    return _load(spelt_out(path.name).partition(".")[0], path, *_shape_of(path))


def find(source: Source, data: Path | None = None, folder: Path | None = None) -> Path:
    """Return the file of a benchmark, or say where it could come from."""
    if data is not None and not is_folder(data):
        return data
    if source.url is None:
        return OWN_FOLDER / source.file
    for place in (folder, _package_folder(source), cache_folder()) if data is None else (data,):
        found = None if place is None else _within(place, source)
        if found is not None:
            return found
    if data is not None:
        raise InputError(f"--data {data}: there is no {source.file} in it")
    install = f"pip install 'proctor[{source.package[1]}]', or " if source.package else ""
    raise InputError(
        f"{source.name}: {source.file} is not on this machine; {install}"
        f"proctor benchmarks {source.name} --download, or --data PATH"
    )


def is_pinned(path: Path, source: Source) -> bool:
    """Say whether a file is the very one that the table names."""
    return sha256_of(path) == source.sha256


def cache_folder() -> Path | None:
    """Return where downloads are kept."""
    return home(".cache", "proctor", "data")


def _within(place: Path, source: Source) -> Path | None:
    with boundary(InputError, f"cannot look for {source.file} in {place}"):
        for folder in (place, place / source.name, place / source.name.partition("-")[0]):
            for suffix in ("", ".gz", ".zst"):
                if (folder / (source.file + suffix)).is_file():
                    return folder / (source.file + suffix)
    return None


def _package_folder(source: Source) -> Path | None:
    spec = find_spec(source.package[0]) if source.package else None
    return Path(spec.origin).parent / "data" if spec and spec.origin else None


def _shape_of(path: Path) -> tuple[Read, Alias]:
    """Tell the shape of a file's rows by the fields of the first."""
    first = next(iter(read_lines(path)), None)
    fields = {} if first is None else first.decode(dict[str, Any])
    if "tests" not in fields and "test_list" in fields:
        return mbpp.read, mbpp.aliases
    if "tests" not in fields and "test" in fields:
        return humaneval.read, no_alias
    return tasks_file.read, no_alias


def _load(name: str, path: Path, read: Read, alias: Alias) -> Benchmark:
    """Read tasks and make sure that their ids tell them apart."""
    tasks: list[Task] = []
    seen: dict[str, str] = {}
    for line in read_lines(path):
        task = read(line)
        if spelt_out(task.task_id) != task.task_id:
            raise line.error(f"task_id {brief(task.task_id)} is no text that UTF-8 can hold")
        if task.task_id in seen:
            raise line.error(
                f"task_id {brief(task.task_id)} stands in {seen[task.task_id]} already"
            )
        seen[task.task_id] = f"{line.unit} {line.number}"
        tasks.append(task)
    if not tasks:
        raise InputError(f"{path}: there are no tasks in it")
    aliases = {other: task.task_id for task in tasks for other in alias(task.task_id)}
    return Benchmark(name=name, tasks=tasks, source=str(path), aliases=aliases, places=seen)
