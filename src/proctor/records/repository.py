"""A repository around a task: its files, the translation unit with a hole, and what was shown.

The answer goes where the unit has its hole; see `translation_unit.py`. What the model was shown of
the repository, headers and a call graph, decides nothing about a verdict: the axes need it.
"""

import os.path
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import msgspec

from proctor.records.translation_unit import HOLE, fill_hole

MARK = HOLE.decode()
MAX_FILES, MAX_BYTES = 512, 8 << 20
STANDARD = ("-std=c++17", "-O1")
COMPILER = re.compile(r"(?:.*/)?(?:[\w-]+-)?(?:g\+\+|c\+\+)(?:-[\d.]+)?\Z")
PARTED = {"-I", "-isystem", "-iquote", "-include", "-D", "-U"}
"""Flags whose value may be a word of its own."""
DROPPED = {"-c", "-o", "-MF", "-MT", "-MQ"}
UNITS = (".cpp", ".cc", ".cxx")


class CompileCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a compile_commands.json."""

    file: str
    directory: str = "."
    command: str = ""
    arguments: Sequence[str] = ()


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """A repository with a hole in one of its translation units."""

    files: Mapping[str, str]
    """Path → text."""
    unit: str
    """The file with the hole, `/*HOLE*/`."""
    sources: Sequence[str] = ()
    """Other translation units, which are linked with it."""
    flags: Sequence[str] = STANDARD
    commands: Mapping[str, Sequence[str]] = {}
    """Flags of single files, as their compile_commands.json has them."""
    headers: Sequence[str] = ()
    """Files that the model was shown; none: all of them."""
    call_graph: Sequence[str] = ()
    """Qualified names that it was shown as those to use; none: all of the headers."""

    def flags_of(self, file: str) -> Sequence[str]:
        """Return the flags that a file is compiled with."""
        return self.commands.get(file, self.flags)

    def filled(self, code: str) -> str:
        """Return the unit with an answer in its hole."""
        unit = self.files[self.unit].encode("utf-8", "surrogatepass")
        text = fill_hole(unit, code.encode("utf-8", "surrogatepass")).text
        return text.decode("utf-8", "surrogatepass")


def find_problem(context: Repository) -> str | None:
    """Say what is wrong with a context, naming the field."""
    if context.unit not in context.files:
        return f"context.unit is {context.unit[:80]!r}, which is none of context.files"
    holes = context.files[context.unit].count(MARK)
    if holes != 1:
        return f"context.unit: {context.unit} has {holes} marks {MARK}; it must have one"
    for path in context.files:
        if not _is_path(path):
            return f"context.files: {path[:80]!r} is no path below the repository"
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in context.files.values())
    if len(context.files) > MAX_FILES or size > MAX_BYTES:
        return f"context.files: more than {MAX_FILES} files or {MAX_BYTES >> 20} MiB"
    for field in ("sources", "headers"):
        for path in getattr(context, field):
            if path not in context.files:
                return f"context.{field}: {path[:80]!r} is none of context.files"
    if context.unit in context.sources:
        return f"context.sources: {context.unit[:80]!r} is the unit with the hole"
    return None


def _is_path(path: str) -> bool:
    parts = PurePosixPath(path).parts
    plain = path and os.path.normpath(path) == path and path.isprintable()
    return bool(plain and parts[0] not in {"/", ".."} and not path.startswith("-"))


def repository_from_commands(entries: Sequence[CompileCommand]) -> dict[str, list[str]]:
    """Return the flags of every file, paths seen from where compiling happens.

    A ValueError says what cannot be taken over.
    """
    found = {}
    for index, entry in enumerate(entries):
        words = list(entry.arguments) or shlex.split(entry.command)
        if not words:
            raise ValueError(f"compile_commands[{index}] has neither arguments nor a command")
        if not COMPILER.match(words[0]):
            raise ValueError(
                f"compile_commands[{index}] is a command of {words[0][:40]!r}; g++ is known here"
            )
        file = _below(entry.file, entry.directory)
        found[file] = _flags(words[1:], entry.directory, entry.file)
    return found


def _flags(words: Sequence[str], directory: str, file: str) -> list[str]:
    kept: list[str] = []
    skip = False
    for index, word in enumerate(words):
        if skip or word == file or word in {"-c", "--"}:
            skip = False
        elif word in DROPPED:
            skip = True
        elif index and words[index - 1] in PARTED:
            kept.append(_below(word, directory))
        else:
            flag = re.match(r"(-I|-isystem|-iquote)(?=.)", word)
            path = word[flag.end() :] if flag else ""
            kept.append(f"{flag[0]}{_below(path, directory)}" if flag else word)
    return kept


def _below(path: str, directory: str) -> str:
    """Return a path seen from a folder, if it is below that."""
    inside = os.path.normpath(path)
    if inside.startswith(directory.rstrip("/") + "/"):
        return os.path.relpath(inside, directory)
    return inside
