"""Languages as Piston's clients call them, and what runs them here.

A runtime is offered only if its language passes its self-test in the sandbox, which is tried when
somebody first asks for it.
"""

import threading
from collections.abc import Sequence

import msgspec

from proctor.errors import SandboxError
from proctor.languages import TABLE, all_languages, get_language
from proctor.sandbox import Sandbox
from proctor.server.compat.piston.versions import parsed, satisfies, version_in


class Name(msgspec.Struct, frozen=True, kw_only=True):
    """What clients call a language."""

    language: str
    program: str
    """The language that it is here."""
    aliases: Sequence[str] = ()
    runtime: str | None = None
    """The package that brings it, if that is called otherwise."""
    contest: bool = False
    """Whether it compares what a program writes with what is expected: see `contests.py`."""


CONTESTS, PYTHON = "codeforces", "python"
NAMES = (
    Name(language=PYTHON, program=PYTHON, aliases=("py", "py3", "python3")),
    Name(language="c++", program="cpp", aliases=("cpp", "g++"), runtime="gcc"),
    Name(language="c", program="c", aliases=("gcc",), runtime="gcc"),
    Name(language="java", program="java"),
    Name(
        language="javascript",
        program="javascript",
        aliases=("node-javascript", "node-js", "js"),
        runtime="node",
    ),
    Name(language="typescript", program="typescript", aliases=("ts", "node-ts", "tsc")),
    Name(language="go", program="go", aliases=("golang",)),
    Name(language="rust", program="rust", aliases=("rs",)),
    Name(language="bash", program="bash", aliases=("sh",)),
    Name(
        language="c++17",
        program="cpp",
        aliases=("cf_c++17", "C++17 (GCC 7-32)", "C++17 (GCC 9-64)"),
        runtime=CONTESTS,
        contest=True,
    ),
    Name(
        language="cf_python3",
        program=PYTHON,
        aliases=("Python 3",),
        runtime=CONTESTS,
        contest=True,
    ),
    Name(language="cf_java", program="java", aliases=("Java 17",), runtime=CONTESTS, contest=True),
)


class Runtime(msgspec.Struct, frozen=True, kw_only=True):
    """A language with the version that is installed here."""

    name: Name
    version: str

    @property
    def compiles(self) -> bool:
        """Whether compiling is told apart from running."""
        return bool(get_language(self.name.program).products)

    @property
    def aliases(self) -> list[str]:
        """What else it is called; that of Python has its version in it."""
        numbered = "python" + ".".join(self.version.split(".")[:2])
        return [*self.name.aliases, *([numbered] if self.name.language == PYTHON else [])]


class Shown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A runtime as `/api/v2/runtimes` lists it; one without a package has no `runtime`."""

    language: str
    version: str
    aliases: Sequence[str]
    runtime: str | None = None


class Package(msgspec.Struct, frozen=True, kw_only=True):
    """A package as `/api/v2/packages` lists it."""

    language: str
    language_version: str
    installed: bool = True


class Runtimes:
    """The runtimes that a sandbox offers; safe for use by several threads."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._versions: dict[str, str | None] = {}
        self._lock = threading.Lock()

    def find(self, language: str, selector: str) -> Runtime | None:
        """Return what a language by that name or alias runs on, if its version is one selected."""
        for name in _names():
            if not _may_mean(language, name):
                continue  # and is not tried
            version = self._version(name.program)
            if version is None or not satisfies(parsed(version), selector):
                continue
            runtime = Runtime(name=name, version=version)
            if language in (name.language, *runtime.aliases):
                return runtime
        return None

    def all(self) -> list[Runtime]:
        """Return all of them; the first time, languages that nobody has tried are tried."""
        found = [(name, self._version(name.program)) for name in _names()]
        return [Runtime(name=name, version=version) for name, version in found if version]

    def _version(self, program: str) -> str | None:
        """Return the version of a language of ours; None where it does not work."""
        with self._lock:
            if program in self._versions:
                return self._versions[program]
        try:
            version = version_in(self._sandbox.offer(program))
        except SandboxError:
            version = None
        with self._lock:
            self._versions[program] = version
        return version


def shown(runtimes: Sequence[Runtime]) -> list[Shown]:
    """Return what `/api/v2/runtimes` says."""
    return [
        Shown(
            language=one.name.language,
            version=one.version,
            aliases=one.aliases,
            runtime=one.name.runtime,
        )
        for one in runtimes
    ]


def packages(runtimes: Sequence[Runtime]) -> list[Package]:
    """Return what `/api/v2/packages` says: each package once."""
    found = {
        one.name.runtime or one.name.language: Package(
            language=one.name.runtime or one.name.language, language_version=one.version
        )
        for one in runtimes
    }
    return list(found.values())


def _may_mean(language: str, name: Name) -> bool:
    """Say whether it could be meant, whichever version of it is here."""
    if language in (name.language, *name.aliases):
        return True
    return name.language == PYTHON and language.startswith("python3.")


def _names() -> list[Name]:
    """Return all names, those of languages that other packages bring included."""
    others = [name for name in all_languages() if name not in TABLE]
    return [*NAMES, *(Name(language=name, program=name) for name in others)]
