"""Languages as Piston's clients call them, and what runs them here.

A runtime is offered only if its language passes its self-test in the sandbox, which is tried when
somebody first asks for it.
"""

import threading
from collections.abc import Sequence

import msgspec

from proctor.errors import SandboxError
from proctor.languages import all_languages, get_language
from proctor.languages.language import PistonName
from proctor.sandbox import Sandbox
from proctor.server.compat.piston.versions import parsed, satisfies, version_in

PYTHON = "python"


class Runtime(msgspec.Struct, frozen=True, kw_only=True):
    """A language with the version that is installed here."""

    name: PistonName
    program: str
    """The name that the language has here."""
    version: str

    @property
    def compiles(self) -> bool:
        """Whether compiling is told apart from running."""
        return bool(get_language(self.program).products)

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
        for name, program in _names():
            if not _may_mean(language, name):
                continue  # and is not tried
            version = self._version(program)
            if version is None or not satisfies(parsed(version), selector):
                continue
            runtime = Runtime(name=name, program=program, version=version)
            if language in (name.language, *runtime.aliases):
                return runtime
        return None

    def all(self) -> list[Runtime]:
        """Return all of them; the first time, languages that nobody has tried are tried."""
        found = [(name, program, self._version(program)) for name, program in _names()]
        return [
            Runtime(name=name, program=program, version=version)
            for name, program, version in found
            if version
        ]

    def _version(self, program: str) -> str | None:
        """Return the version of a language of ours; None where it does not work."""
        with self._lock:
            if program in self._versions:
                return self._versions[program]
        try:
            version = version_in(self._sandbox.require_language(program))
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


def _may_mean(language: str, name: PistonName) -> bool:
    """Say whether it could be meant, whichever version of it is here."""
    if language in (name.language, *name.aliases):
        return True
    return name.language == PYTHON and language.startswith("python3.")


def _names() -> list[tuple[PistonName, str]]:
    """Return all names with the names that the languages have here, those of contests last."""
    names = [(one, name) for name, known in all_languages().items() for one in known.piston_names]
    return sorted(names, key=lambda pair: pair[0].contest)
