"""The parts of g++ called one by one, and the headers that a text begins with.

A driver that only starts other programs, and a linker that reads all of the standard library, take
longer than many a candidate. So the driver is asked once what it would call; then its compiler
proper, its assembler and its linker are called as it would, and a candidate becomes a shared object
that finds the library when it is loaded. What does not load is linked again, by the driver, with
all libraries: only if that does not load, either, something is missing.
"""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from proctor import fork_safe_fds
from proctor.errors import SandboxError, boundary
from proctor.languages.toolchain import Toolchain

SHARED = ("-fPIC", "-fno-semantic-interposition")
HEADER = "headers.h"
"""What the headers are called that a text begins with; compiled, they have .gch behind it."""
_BLANK = r"(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)"
_INCLUDE = r"#[ \t]*include[ \t]*<[ \t]*([\w./+-]{1,100})[ \t]*>[ \t]*(?://[^\n]*)?\n"
_PREFIX = re.compile(rf"{_BLANK}*+{_INCLUDE}")
_OTHER_LINES = re.compile(r"\\[\s\0]|\?\?/|\r(?!\n)")
"""Where lines begin or end that others do not see: joined, or ended by a carriage return alone."""
_REACHES_IN = re.compile(
    r"(?<!\busing )\bnamespace\s+\w|\btemplate\s*<\s*>|\b(?:struct|class)\s+\w+\s*::"
)
_MAY_REACH_IN = re.compile(
    r"(?<!\busing )\bnamespace\b(?!\s*\{)|\btemplate\b|\b(?:struct|class)\s+\w+\s*::"
    r"|\bdefine\b[^\n]*\b(?:using|namespace|operator)\b"
    r"|_GLIBCXX|##|%:%:|\\[\s\0]|\?\?/|\r(?!\n)"
    r"|\boperator\b(?!\s*[-+*%^&|~!=<>(\[,])|\bstd\s*(?:/|::\s*(?:__|/))"
    rf"|\b{re.escape(HEADER)}\b"
)
"""Also what could hide it: macros, words made of others or broken into lines, any template; what
may replace `new`, `delete` or others that templates use, since those elsewhere would not; and what
names the compiled headers, which an ordinary compiler would not find."""
MAX_HEADERS = 64
"""More than anybody begins with: to look for beginnings of headers takes time for each of them."""


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What makes a shared object of a source file, step by step."""

    compile: Sequence[str]
    assemble: Sequence[str]
    link: Sequence[str]

    @property
    def steps(self) -> list[Sequence[str]]:
        """Return the command lines that make part.so of part.cpp."""
        return [self.compile, self.assemble, self.link]


def with_headers(steps: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Have the first step begin with headers that were compiled beforehand."""
    (first, *rest), *others = steps
    return [[first, "-include", HEADER, *rest], *others]


def flags(toolchain: Toolchain, *, tests: bool = True) -> list[str]:
    """Return what is said to the compiler of what programs mean, not of where they go."""
    return [word for word in toolchain.compiler(tests=tests) if re.match(r"-(?:std=|O|f)", word)]


@lru_cache(maxsize=8)
def parts_of(command: str, words: tuple[str, ...]) -> Parts:
    """Ask the driver what it would call."""
    found = {}
    for name, asked in (
        ("cc1plus", ["-S", "-o", "part.s", "part.cpp"]),
        ("as", ["-c", "-o", "part.o", "part.s"]),
    ):
        found[name] = _would_call(command, [*words, *asked], name)
    begin, end = (_said(command, f"-print-file-name=crt{one}S.o") for one in ("begin", "end"))
    link = [
        *(_tool(command, "ld"), "-shared", "--eh-frame-hdr", "--hash-style=gnu"),
        *("-z", "noseparate-code"),  # half as large, and mapped in fewer pieces
        *("--version-script=exports.map", "-o", "part.so", begin, "part.o", end),
    ]
    return Parts(compile=found["cc1plus"], assemble=found["as"], link=link)


def shared(toolchain: Toolchain) -> tuple[str, ...]:
    """Return what is said to the compiler of shared objects."""
    return (*flags(toolchain), *SHARED)


def parts(toolchain: Toolchain) -> Parts:
    """Return what makes shared objects of C++ on this host."""
    return parts_of(toolchain.commands["g++"], shared(toolchain))


def whole(toolchain: Toolchain) -> list[Sequence[str]]:
    """Return the command lines that link with all libraries; who loads it sees what is missing."""
    words = toolchain.compiler(tests=True)
    libraries = [word for word in words if word.startswith(("-l", "-L", "-Wl,"))]
    link = [
        *(toolchain.commands["g++"], *shared(toolchain), "-shared"),
        *("-Wl,--version-script=exports.map", "-o", "part.so", "part.o", *libraries),
    ]
    return [*parts(toolchain).steps[:-1], link]


def program(toolchain: Toolchain) -> list[list[str]]:
    """Return the command line that makes `host`, with all that its parts need loaded.

    It shows them nothing of itself but the templates that it has instantiated for them.
    """
    libraries = ("-Wl,--no-as-needed", "-lstdc++", "-lm", "-ldl")
    sources = ("host.cpp", "instances.cpp")
    shown = "-Wl,--dynamic-list=shown.list"
    command = toolchain.commands["g++"]
    return [[command, *flags(toolchain), "-s", shown, "-o", "host", *sources, *libraries]]


def header(toolchain: Toolchain, words: Sequence[str], *, instantiate: bool) -> list[list[str]]:
    """Return the command lines that compile headers beforehand, for texts compiled with `words`.

    `instantiate`: build the plugin that instantiates the templates that they use first.
    """
    command = toolchain.commands["g++"]
    header = [*words, "-x", "c++-header", "-o", f"{HEADER}.gch", HEADER]
    if not instantiate:
        return [[command, *header]]
    name = "instantiate_templates"
    plugin = [command, "-fPIC", "-shared", "-nostdlib", "-o", f"{name}.so", f"{name}.cpp"]
    return [plugin, [command, f"-fplugin=./{name}.so", *header]]


def proof(toolchain: Toolchain, words: Sequence[str]) -> list[list[str]]:
    """Return the command line that says on standard error whether compiled headers are used."""
    first, *rest = parts_of(toolchain.commands["g++"], tuple(words)).compile
    return [[first, "-H", "-Winvalid-pch", *rest]]


def is_used(said: bytes) -> bool:
    """Say whether a compiler that was asked for proof did use compiled headers."""
    name = f"{HEADER}.gch".encode()
    return any(line.startswith(b"!") and line.endswith(name) for line in said.splitlines())


def prefix(source: str) -> tuple[str, ...]:
    """Return the headers that a text includes before anything else stands in it, in order."""
    return tuple(match[1] for match in _prefix(source))


def reaches_in(source: str, *, may: bool = False) -> bool:
    """Say whether a text changes what the templates of headers come to, or that it `may`.

    One that specializes them or adds to their namespaces could, if they were instantiated already,
    be refused, or accepted, where a compiler that reads all of it from the start would not.
    """
    begin = max((match.end() for match in _prefix(source)), default=0)
    return (_MAY_REACH_IN if may else _REACHES_IN).search(source, begin) is not None


def _prefix(source: str) -> Iterator[re.Match[str]]:
    """Yield what a text begins with, header by header, with the comments before each.

    A backslash may make the next line a part of a comment: what comes with one is not looked at.
    """
    at = 0
    for _ in range(MAX_HEADERS):
        match = _PREFIX.match(source, at)
        if match is None or _OTHER_LINES.search(match[0]):
            break
        yield match
        at = match.end()


def _would_call(command: str, words: Sequence[str], name: str) -> list[str]:
    """Return the command line by which the driver would call one of its parts."""
    for line in _run([command, "-###", *words]).splitlines():
        called = shlex.split(line) if line.startswith(" ") else [""]
        if Path(called[0]).name == name:
            return [_tool(command, name), *called[1:]]
    raise SandboxError(f"{command} does not say how it calls {name}")


def _tool(command: str, name: str) -> str:
    """Return where a part of the driver lies."""
    found = shutil.which(_said(command, f"-print-prog-name={name}"))
    if found is None:
        raise SandboxError(f"{command}: there is no {name} here")
    return str(Path(found).resolve())


def _said(command: str, word: str) -> str:
    return _run([command, word]).strip()


def _run(argv: Sequence[str]) -> str:
    refusal = f"{' '.join(argv)} does not work here"
    try:
        with boundary(SandboxError, refusal), fork_safe_fds.no_forks():
            ran = subprocess.run(argv, capture_output=True, check=True, timeout=60, cwd="/")
    except subprocess.SubprocessError as error:
        raise SandboxError(f"{refusal}: {error}") from None
    return (ran.stdout + ran.stderr).decode("utf-8", "replace")
