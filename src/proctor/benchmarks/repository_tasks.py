"""Repository tasks: rows with a context, and folders with a repository and its tasks.

A folder is a repository that builds as it is. `tasks.toml` in it declares the tasks; a pair of
comments, `// HOLE name` and `// END name`, marks the part of a file that a task removes: the
reference. Tests lie in `tests/` and are in no context. A folder may hold several such folders.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError, boundary
from proctor.records.repository import (
    MARK,
    MAX_BYTES,
    MAX_FILES,
    STANDARD,
    UNITS,
    CompileCommand,
    Repository,
    find_problem,
    repository_from_commands,
)
from proctor.records.task import WrongSolution
from proctor.storage.jsonl import Line, explain_error, parse_toml, read_whole

TASKS, COMMANDS, TESTS = "tasks.toml", "compile_commands.json", "tests"
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".inl", ".ipp")
MARKS = re.compile(r"^[ \t]*// (?:HOLE|END) \w+[ \t]*\n", re.MULTILINE)


class ContextRow(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A context as a tasks file has it."""

    files: dict[str, str]
    unit: str
    sources: list[str] = []
    flags: list[str] | None = None
    compile_commands: list[CompileCommand] = []
    headers: list[str] = []
    call_graph: list[str] = []


class FolderTask(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One task of a folder."""

    task_id: str
    hole: str | None = None
    """The name in its marks; the last part of its id by default."""
    prompt: str = ""
    entry_point: str | None = None
    tests: str | None = None
    headers: list[str] = []
    call_graph: list[str] = []
    difficulty: str | None = None
    tags: list[str] = []
    timeout_s: float = 10.0
    wrong_solutions: list[WrongSolution] = []


class Folder(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The content of `tasks.toml`."""

    task: list[FolderTask]
    flags: Sequence[str] = STANDARD
    sources: list[str] | None = None
    """Units that are linked; all by default."""


def repository_of(row: ContextRow) -> Repository:
    """Make a context of a row; raise ValueError if it is invalid."""
    context = Repository(
        files=row.files,
        unit=row.unit,
        sources=row.sources,
        flags=STANDARD if row.flags is None else row.flags,
        commands=repository_from_commands(row.compile_commands),
        headers=row.headers,
        call_graph=row.call_graph,
    )
    trouble = find_problem(context)
    if trouble is not None:
        raise ValueError(trouble)
    return context


def folders(path: Path) -> list[Path]:
    """Return the repositories with tasks in a folder, or the folder itself if it is one."""
    with boundary(InputError, f"cannot read {path}"):
        if (path / TASKS).is_file():
            return [path]
        return sorted(one.parent for one in path.glob(f"*/{TASKS}"))


def read_folders(path: Path) -> Iterator[Line]:
    """Yield the tasks of repositories as rows of a tasks file."""
    found = folders(path)
    if not found:
        raise InputError(f"{path}: no {TASKS} in it, nor in a folder below it")
    for folder in found:
        yield from _rows(folder)


def _rows(folder: Path) -> Iterator[Line]:
    where = folder / TASKS
    try:
        asked = msgspec.convert(parse_toml(where, read_whole(where)), Folder)
    except msgspec.ValidationError as error:
        raise InputError(f"{where}: {explain_error(error)}") from None
    texts = _texts(folder)
    commands = _commands(folder / COMMANDS)
    for number, task in enumerate(asked.task, 1):
        line = Line(where, number, b"", "task")
        row = _row(line, folder, asked, task, texts)
        row["context"]["compile_commands"] = commands
        yield line._replace(text=json.dumps(row).encode())


def _row(
    line: Line, folder: Path, asked: Folder, task: FolderTask, texts: dict[str, str]
) -> dict[str, Any]:
    """Cut a task's hole, and write down all that belongs to it."""
    name = task.hole or task.task_id.rpartition("/")[2]
    unit, text, reference = _cut(line, name, texts)
    files = {path: MARKS.sub("", one) for path, one in texts.items()}
    files[unit] = text
    tests = read_whole(folder / (task.tests or f"{TESTS}/{name}.cpp")).decode("utf-8", "replace")
    units = (
        [path for path in files if path.endswith(UNITS)] if asked.sources is None else asked.sources
    )
    return {
        "task_id": task.task_id,
        "language": "cpp",
        "prompt": _prompt(task, unit, files),
        "entry_point": task.entry_point or name,
        "tests": {"kind": "program", "code": tests},
        "metadata": {
            "timeout_s": task.timeout_s,
            "difficulty": task.difficulty,
            "tags": task.tags,
        },
        "canonical_solution": reference,
        "wrong_solutions": msgspec.to_builtins(task.wrong_solutions),
        "context": {
            "files": files,
            "unit": unit,
            "sources": [path for path in units if path != unit],
            "flags": asked.flags,
            "headers": task.headers,
            "call_graph": task.call_graph,
        },
    }


def _cut(line: Line, name: str, texts: dict[str, str]) -> tuple[str, str, str]:
    """Return the file with a task's hole, its text with the hole, and what was in it."""
    pattern = re.compile(
        rf"^[ \t]*// HOLE {re.escape(name)}[ \t]*\n(.*?)^[ \t]*// END {re.escape(name)}[ \t]*\n",
        re.MULTILINE | re.DOTALL,
    )
    found = [(path, match) for path, text in texts.items() for match in pattern.finditer(text)]
    if len(found) != 1:
        raise line.error(f"{len(found)} pairs of // HOLE {name} and // END {name}, not one")
    path, match = found[0]
    text = match.string[: match.start()] + f"{MARK}\n" + match.string[match.end() :]
    return path, MARKS.sub("", text), MARKS.sub("", match[1])


def _prompt(task: FolderTask, unit: str, files: dict[str, str]) -> str:
    """Show what is asked, the headers that may be used, and the unit."""
    shown = [*(path for path in task.headers if path != unit), unit]
    parts = [f"{path}:\n```cpp\n{files[path].rstrip()}\n```" for path in shown if path in files]
    use = f"Use only these: {', '.join(task.call_graph)}." if task.call_graph else ""
    return "\n\n".join(filter(None, [task.prompt.strip(), use, *parts]))


def _texts(folder: Path) -> dict[str, str]:
    """Read the files of a repository, those that belong to the benchmark left out."""
    found: dict[str, str] = {}
    size = 0
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).as_posix()
        if path.suffix not in (*UNITS, *HEADERS) or inside.startswith(f"{TESTS}/"):
            continue
        found[inside] = read_whole(path, MAX_BYTES).decode("utf-8", "replace")
        size += len(found[inside])
        if len(found) > MAX_FILES or size > MAX_BYTES:
            raise InputError(f"{folder}: more than {MAX_FILES} files or {MAX_BYTES >> 20} MiB")
    return found


def _commands(path: Path) -> Sequence[object]:
    if not path.is_file():
        return []
    try:
        entries = msgspec.json.decode(read_whole(path), type=list[CompileCommand])
    except msgspec.DecodeError as error:
        raise InputError(f"{path}: {explain_error(error)}") from None
    return list(msgspec.to_builtins(entries))
