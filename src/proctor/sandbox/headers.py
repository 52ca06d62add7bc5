"""Headers compiled beforehand: by us, in the sandbox, and exactly those that a text begins with.

More than a text includes would make programs compile that lack an include. Where the compiler takes
a plugin, what headers instantiate is instantiated there and then, not by every text; and what many
texts instantiate may be declared to be elsewhere, if whoever loads them has it. What was
compiled lies in a file of memory that nobody can write to any more, and is shown to compilers by
its descriptor: it goes when this process does, however that ends. It is used only if the compiler
itself has said that it uses it: one that silently does not is the usual case of a mistake.

A compiler that has read compiled headers can be kept in their place, asleep (`asleep.cpp`), with an
assembler and a linker: run, they go on with the text that lies beside them. That counts if they
compile or refuse it; if anything else becomes of it, the text is compiled as ever.
"""

import os
import platform
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from proctor import gcc
from proctor.build import LIMITS, Recipe, unpack
from proctor.cache import Cache
from proctor.errors import SandboxError
from proctor.program import Program
from proctor.sandbox import MIB, Execution, Exited, Limits
from proctor.sandbox.sealed import sealed
from proctor.toolchain import Toolchain

WORTH_IT = 2
"""So often headers have to be asked for: compiling them takes as long as a few texts without them.
A task's tests and its first sample have asked by then."""
WORTH_IT_FOR_PROGRAMS = 6
"""Of programs nobody knows whether more will come; of the samples of a task many do."""
KEPT_BYTES = 512 * MIB
REMEMBERED = 1000
PLUGINS = {
    name: (Path(__file__).parent / f"{name}.cpp").read_bytes() for name in ("ahead", "asleep")
}
TRIED = {
    "part.cpp": b"int proctor_tried(int number) { return number + 1; }\n",
    "exports.map": b"VERSION { { global: *; }; }\n",
}
PROGRAM = b"\x7fELF"
"""How programs begin, and compiled headers do not."""

Compile = Callable[[Toolchain, Recipe, int | None], Execution]


class Wanted(NamedTuple):
    """Headers in their order, and what the texts that begin with them are compiled with."""

    names: tuple[str, ...]
    words: tuple[str, ...]
    worth_it: int = WORTH_IT
    instances: str = ""
    """Declarations of templates that those who load what comes of the texts have instantiated."""
    asleep: bool = False
    """Whether a compiler that has read them will do in their place: one that makes part.s."""


class Way(NamedTuple):
    """A way to have headers read but once."""

    plugins: Sequence[str]
    recipe: Recipe
    proof: Recipe
    """What is done with what came of it to see that it works."""
    holds: Callable[[Execution], bool]


def _ways(toolchain: Toolchain, wanted: Wanted) -> Iterator[Way]:
    """Yield ways, the best one first."""
    words = wanted.words
    plain = "".join(f"#include <{name}>\n" for name in wanted.names).encode()
    ahead = plain + f"#pragma proctor ahead\n{wanted.instances}".encode()
    if wanted.asleep and Path(gcc.LOADER).exists():
        headers, compiler = gcc.header(toolchain, words), gcc.asleep(toolchain, words)
        files = {gcc.SOURCE: ahead, **gcc.ASLEEP, "host": _host()}
        recipe = Recipe(files=files, steps=[*headers, *compiler], products=(gcc.COMPILER,))
        proof = Recipe(files=TRIED, steps=gcc.parts(toolchain).steps, products=("part.so",))
        yield Way(("ahead", "asleep"), recipe, proof, lambda done: b"tried" in done.stdout)
    proof = Recipe(files={"part.cpp": b""}, steps=gcc.proof(toolchain, words), products=())
    for plugins, text in ((("ahead",), ahead), ((), plain)):
        steps = gcc.header(toolchain, words, ahead=bool(plugins))
        recipe = Recipe(files={gcc.SOURCE: text}, steps=steps, products=(f"{gcc.HEADER}.gch",))
        yield Way(plugins, recipe, proof, lambda done: gcc.is_used(done.stderr))


@cache
def _host() -> bytes:
    """Return what a program that was written down depends on besides its files."""
    try:
        models = re.findall(r"^model name.*", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        models = []
    return f"{platform.release()} {platform.machine()} {models[:1]}".encode()


class Headers:
    """Compiled headers of one sandbox; safe for use by several threads."""

    def __init__(
        self, compile_: Compile, cache: Cache | None = None, kept_bytes: int = KEPT_BYTES
    ) -> None:
        self._compile = compile_
        self._cache = cache
        self._kept_bytes = kept_bytes
        self._asked: OrderedDict[Wanted, int] = OrderedDict()
        self._making: set[Wanted] = set()
        self._kept: OrderedDict[Wanted, int] = OrderedDict()
        """Headers → the file that holds them compiled, or a compiler that has read them."""
        self._lock = threading.Lock()

    def take(self, toolchain: Toolchain, wanted: Wanted) -> int | None:
        """Return a descriptor, the caller's own, of compiled headers; None if there are none.

        Until they are compiled, those of them will do that come first.
        """
        with self._lock:
            if wanted in self._kept:
                self._kept.move_to_end(wanted)
            elif wanted not in self._making:
                self._asked[wanted] = self._asked.get(wanted, 0) + 1
                if len(self._asked) > REMEMBERED:
                    self._asked.popitem(last=False)
            asked = self._asked.get(wanted, 0)
            busy = wanted in self._kept or wanted in self._making
            if busy or asked not in (1, wanted.worth_it):  # else not yet, or it does not work
                return self._first_of(wanted)
            self._making.add(wanted)
        try:
            file = self._make(toolchain, wanted, known=asked != wanted.worth_it)
        except BaseException:
            with self._lock:
                self._making.remove(wanted)
                self._asked[wanted] = asked - 1  # the next one has to try it instead
            raise
        with self._lock:
            self._making.remove(wanted)
            if file is not None:
                self._kept[wanted] = file
                self._shrink()
            return self._first_of(wanted)

    def close(self) -> None:
        """Let go of all."""
        with self._lock:
            while self._kept:
                os.close(self._kept.popitem()[1])

    def _make(self, toolchain: Toolchain, wanted: Wanted, *, known: bool) -> int | None:
        """Compile headers in the best way that works here; None if there is none.

        `known`: only if somebody compiled them before.
        """
        for way in _ways(toolchain, wanted):
            file = None
            with suppress(SandboxError):  # not allowed here, say; other trouble the text meets, too
                recipe = self._with_plugins(toolchain, way, known=known)
                made = None if recipe is None else self._made(toolchain, recipe, known=known)
                file = None if made is None else self._proved(toolchain, way, made)
            if file is not None:
                return file
        return None

    def _with_plugins(self, toolchain: Toolchain, way: Way, *, known: bool) -> Recipe | None:
        """Return the recipe of a way with its plugins; None if one does not compile."""
        files = {**way.recipe.files}
        for name in way.plugins:
            source, steps = {f"{name}.cpp": PLUGINS[name]}, gcc.plugin(toolchain, name)
            recipe = Recipe(files=source, steps=steps, products=(f"{name}.so",))
            made = self._made(toolchain, recipe, known=known)
            if made is None:
                return None
            files |= unpack(made)
        return msgspec.structs.replace(way.recipe, files=files)

    def _made(self, toolchain: Toolchain, recipe: Recipe, *, known: bool) -> bytes | None:
        """Return what came of a recipe, packed; None if nothing did or it is not `known`."""
        key = recipe.digest(toolchain)
        packed = None if self._cache is None else self._cache.get(key)
        if packed is None and not known:
            made = self._compile(toolchain, recipe, None)
            if made.ending == Exited(0):
                packed = made.stdout
                if self._cache is not None:
                    self._cache.put(key, packed)
        return packed

    def _proved(self, toolchain: Toolchain, way: Way, packed: bytes) -> int | None:
        """Have what came of a way prove that it works; None if it does not."""
        file = sealed(memoryview(packed)[packed.find(b"\n") + 1 :])  # there is no other
        holds = False
        try:
            done = self._compile(toolchain, way.proof, file)
            holds = done.ending == Exited(0) and way.holds(done)
        finally:  # also if nobody waits for it any more
            if not holds:
                os.close(file)
        return file if holds else None

    def _first_of(self, wanted: Wanted) -> int | None:
        """Return a descriptor of the longest beginning that is compiled, if there is one."""
        for end in range(len(wanted.names), 0, -1):
            shorter = wanted._replace(names=wanted.names[:end])
            if shorter in self._kept:
                return os.dup(self._kept[shorter])
        return None

    def _shrink(self) -> None:
        """Let go of what was not asked for for longest, until the rest is little enough."""
        while len(self._kept) > 1 and sum(map(_size, self._kept.values())) > self._kept_bytes:
            wanted, file = self._kept.popitem(last=False)
            os.close(file)
            self._asked.pop(wanted, None)


def wanted_by(program: Program, toolchain: Toolchain, limits: Limits) -> Wanted | None:
    """Return the headers that a whole program begins with, if it can have them compiled."""
    if toolchain.language.name != "cpp" or limits.memory_bytes < LIMITS.memory_bytes:
        return None
    names = gcc.prefix(program.source)
    if not names or gcc.reaches_in(program.source):
        return None
    words = tuple(gcc.flags(toolchain, tests=program.tests))
    return Wanted(names, words, WORTH_IT_FOR_PROGRAMS)


def show(toolchain: Toolchain, how: dict[str, Any], file: int | None) -> Sequence[int]:
    """Have the first step of a compiler begin with compiled headers, if there are any.

    Return the descriptors that it has to be given for that.
    """
    if file is None:
        return ()
    if is_asleep(file):
        how["steps"] = gcc.woken(toolchain, how["steps"])
    else:
        how |= {"beside": f"{gcc.HEADER}.gch", "steps": gcc.with_headers(how["steps"])}
    return (file,)


def is_asleep(file: int) -> bool:
    """Say whether a file is a compiler that sleeps, not headers."""
    return os.pread(file, len(PROGRAM), 0) == PROGRAM


def _size(file: int) -> int:
    return os.fstat(file).st_size
