"""A language as it is installed on this host: its commands, and what they need to be shown.

What a command's name leads to is found out here, links followed, so that in a box nothing depends
on links of the host.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from proctor import fork_safe_fds
from proctor.errors import SandboxError, boundary
from proctor.languages import get_language
from proctor.languages.language import Language
from proctor.records.limits import MIB

HEAP = 0.75
"""How much of its memory a runtime may use for its heap; the rest is for the runtime itself."""


class Toolchain(msgspec.Struct, frozen=True, kw_only=True):
    """A language as it is installed on this host."""

    language: Language
    version: str
    commands: Mapping[str, str]
    """Name → where it lies."""
    shown: Sequence[str]
    """What of the host has to be in sight."""
    warm: str = ""
    """A folder with what its compiler need not compile again."""

    def name_for(self, source: str) -> str:
        """Return what a program has to be called."""
        for pattern in self.language.named_by:
            found = re.search(pattern, source)
            if found is not None:
                return found[1]
        return self.language.main

    def argv(self, words: Sequence[str], main: str, memory_bytes: int) -> list[str]:
        """Return a command line of the language as it is run here."""
        return [self._filled(word, main, memory_bytes) for word in words]

    def environment(self, memory_bytes: int) -> dict[str, str]:
        """Return what its programs find in their environment."""
        own = self.language.environment
        return {name: self._filled(value, "", memory_bytes) for name, value in own.items()}

    def compiler(self, *, tests: bool) -> Sequence[str]:
        """Return the words that compile a program; none if there is nothing to compile."""
        words = (tests and self.language.compile_tests) or self.language.compile
        optional = self.language.optional.items()
        extra = [word for file, more in optional if self._has(file) for word in more]
        return [*words, *extra] if words else []

    def runner(self, *, tests: bool) -> Sequence[str]:
        """Return the words that run a program."""
        return (tests and self.language.run_tests) or self.language.run

    def _has(self, file: str) -> bool:
        return _exists(self._filled(file, "", 0))

    def _filled(self, word: str, main: str, memory_bytes: int) -> str:
        heap = int(HEAP * memory_bytes) // MIB
        return fill(word, {**self.commands, "main": main, "heap": str(heap)})


@cache
def _exists(file: str) -> bool:
    return Path(os.path.normpath(file)).exists()


def fill(word: str, values: Mapping[str, str]) -> str:
    """Put values where a word has their names in braces."""
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word


@cache
def find_toolchain(name: str) -> Toolchain:
    """Find what a language needs on this host; a SandboxError says how to install it."""
    language = get_language(name)
    commands = {}
    for command in language.commands:
        path = sys.executable if command == "python" else shutil.which(command)
        if path is None:
            raise SandboxError(f"{name}: there is no {command} here; {language.install}")
        commands[command] = path
    if language.home:
        folder = Path(_said(language, language.home, commands)) / "bin"
        commands |= {c: str(folder / c) for c in commands if (folder / c).is_file()}
    commands = {command: str(Path(path).resolve()) for command, path in commands.items()}
    return Toolchain(
        language=language,
        version=_version(language, commands),
        commands=commands,
        shown=sorted({str(Path(path).resolve()) for path in _shown(language, commands)}),
    )


def _shown(language: Language, commands: Mapping[str, str]) -> Iterator[str]:
    """Yield what of the host has to be in sight for some commands to work."""
    for name, path in commands.items():
        above = Path(path).parents[1]
        beside = [above / place for place in language.around.get(name, ())]
        yield from (str(place) for place in beside if place.exists())
        if not beside:
            yield path
    for pattern in language.shows:
        yield from map(str, Path("/").glob(pattern.removeprefix("/")))


def _version(language: Language, commands: Mapping[str, str]) -> str:
    """Return what tells the version, and of what."""
    said = _said(language, language.version, commands)
    command = language.version[0].strip("{}")
    return said if command in said else f"{command} {said}"


def _said(language: Language, words: Sequence[str], commands: Mapping[str, str]) -> str:
    """Return the first line that a command prints."""
    argv = [fill(word, commands) for word in words]
    refusal = f"{language.name}: {' '.join(argv)} does not work here"
    try:
        with boundary(SandboxError, refusal), fork_safe_fds.no_forks():
            answer = subprocess.run(argv, capture_output=True, check=True, timeout=60)
    except subprocess.SubprocessError as error:
        raise SandboxError(f"{refusal}: {error}") from None
    lines = (answer.stdout or answer.stderr).decode("utf-8", "replace").strip().splitlines()
    if not lines:
        raise SandboxError(f"{refusal}: it says nothing")
    return lines[0]
