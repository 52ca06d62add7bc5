"""Precompiled C++ headers, made in the sandbox: exactly those that a text begins with.

More than these would make programs compile that lack an include. If the compiler takes a plugin,
the templates that headers use are instantiated in them instead of in every text; templates that
many texts use may be declared there to be elsewhere, in the program that loads what is compiled.

Precompiled headers lie in a sealed file in memory, which compilers get as a descriptor: guests
cannot change it, and it goes with this process. They are used only once the compiler has confirmed
that it uses them, because GCC ignores those that do not fit. Otherwise texts are compiled plainly.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from proctor.errors import SandboxError
from proctor.languages import gcc
from proctor.languages.compiler import LIMITS, BuildRecipe
from proctor.languages.toolchain import Toolchain
from proctor.records.execution import Execution, Exited
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.sandbox.toolchains.sealed_memfd import seal_file
from proctor.storage.cache import Cache

PRECOMPILE_AFTER_USES = 2
"""So often headers have to be asked for: compiling them takes as long as a few texts without them.
A task's tests and its first sample have asked by then."""
PRECOMPILE_PROGRAMS_AFTER_USES = 6
"""Of programs nobody knows whether more will come; of the samples of a task many do."""
KEPT_BYTES = 512 * MIB
CACHE_SIZE = 1000
PLUGIN_SOURCE = (Path(__file__).parent / "instantiate_templates.cpp").read_bytes()

Compile = Callable[[Toolchain, BuildRecipe, int | None], Execution]


class HeaderRequest(NamedTuple):
    """Headers in their order, and what the texts that begin with them are compiled with."""

    names: tuple[str, ...]
    words: tuple[str, ...]
    precompile_after: int = PRECOMPILE_AFTER_USES
    instances: str = ""
    """Declarations of templates that those who load what comes of the texts have instantiated."""


class PrecompiledHeaders:
    """Compiled headers of one sandbox; safe for use by several threads."""

    def __init__(
        self, compile_: Compile, cache: Cache | None = None, kept_bytes: int = KEPT_BYTES
    ) -> None:
        self._compile = compile_
        self._cache = cache
        self._kept_bytes = kept_bytes
        self._asked: OrderedDict[HeaderRequest, int] = OrderedDict()
        self._making: set[HeaderRequest] = set()
        self._kept: OrderedDict[HeaderRequest, int] = OrderedDict()
        """Headers → the file that holds them compiled."""
        self._lock = threading.Lock()

    def take(self, toolchain: Toolchain, wanted: HeaderRequest) -> int | None:
        """Return a descriptor, the caller's own, of compiled headers; None if there are none.

        Until they are compiled, those of them will do that come first.
        """
        with self._lock:
            if wanted in self._kept:
                self._kept.move_to_end(wanted)
            elif wanted not in self._making:
                self._asked[wanted] = self._asked.get(wanted, 0) + 1
                if len(self._asked) > CACHE_SIZE:
                    self._asked.popitem(last=False)
            asked = self._asked.get(wanted, 0)
            busy = wanted in self._kept or wanted in self._making
            if busy or asked not in (
                1,
                wanted.precompile_after,
            ):  # else not yet, or it does not work
                return self._first_of(wanted)
            self._making.add(wanted)
        try:
            file = self._make(toolchain, wanted, known=asked != wanted.precompile_after)
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

    def _make(self, toolchain: Toolchain, wanted: HeaderRequest, *, known: bool) -> int | None:
        """Compile headers, templates included if the compiler takes plugins; None if that fails.

        `known`: only take them from the cache.
        """
        for instantiate in (True, False):
            with suppress(SandboxError):  # compiling the text will fail in the same way
                file = self._compiled(toolchain, wanted, instantiate=instantiate, known=known)
                if file is not None:
                    return file
        return None

    def _compiled(
        self, toolchain: Toolchain, wanted: HeaderRequest, *, instantiate: bool, known: bool
    ) -> int | None:
        """Return compiled headers that the compiler confirms it uses; else None."""
        recipe = _recipe(toolchain, wanted, instantiate=instantiate)
        key = recipe.digest(toolchain)
        packed = None if self._cache is None else self._cache.get(key)
        if packed is None and not known:
            made = self._compile(toolchain, recipe, None)
            if made.ending == Exited(0):
                packed = made.stdout
                if self._cache is not None:
                    self._cache.put(key, packed)
        if packed is None:
            return None
        file = seal_file(memoryview(packed)[packed.find(b"\n") + 1 :])  # the only product
        is_used = False
        try:
            steps = gcc.proof(toolchain, wanted.words)
            proof = BuildRecipe(files={"part.cpp": b""}, steps=steps, products=())
            done = self._compile(toolchain, proof, file)
            is_used = done.ending == Exited(0) and gcc.is_used(done.stderr)
        finally:  # also if the request is cancelled meanwhile
            if not is_used:
                os.close(file)
        return file if is_used else None

    def _first_of(self, wanted: HeaderRequest) -> int | None:
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


def _recipe(toolchain: Toolchain, wanted: HeaderRequest, *, instantiate: bool) -> BuildRecipe:
    """Return how headers are compiled beforehand."""
    text = "".join(f"#include <{name}>\n" for name in wanted.names)
    files = {gcc.HEADER: text.encode()}
    if instantiate:
        text += f"#pragma proctor instantiate\n{wanted.instances}"
        files = {gcc.HEADER: text.encode(), "instantiate_templates.cpp": PLUGIN_SOURCE}
    steps = gcc.header(toolchain, wanted.words, instantiate=instantiate)
    return BuildRecipe(files=files, steps=steps, products=(f"{gcc.HEADER}.gch",))


def headers_used_by(program: Program, toolchain: Toolchain, limits: Limits) -> HeaderRequest | None:
    """Return the headers that a whole program begins with, if it can have them compiled."""
    if not toolchain.language.precompiled_headers or limits.memory_bytes < LIMITS.memory_bytes:
        return None
    names = gcc.prefix(program.source)
    if not names or gcc.reaches_in(program.source):
        return None
    words = tuple(gcc.flags(toolchain, tests=program.tests))
    return HeaderRequest(names, words, PRECOMPILE_PROGRAMS_AFTER_USES)


def show(spec: dict[str, Any], file: int | None) -> Sequence[int]:
    """Have the first step of a compiler begin with compiled headers, if there are any.

    Return the descriptors that it has to be given for that.
    """
    if file is None:
        return ()
    spec |= {"extra_file": f"{gcc.HEADER}.gch", "steps": gcc.with_headers(spec["steps"])}
    return (file,)


def _size(file: int) -> int:
    return os.fstat(file).st_size
