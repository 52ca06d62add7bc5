"""Programs of other languages than Python in the kernel tier: boxes of their own, built, run.

A language is tried once before it is offered: its self-test is compiled and run like any program.
"""

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec

from proctor import gcc
from proctor.build import LIMITS, Builder, Built, Outcome, Recipe, Refused, pack
from proctor.cache import Cache
from proctor.errors import SandboxError
from proctor.program import Program
from proctor.sandbox import (
    MIB,
    Execution,
    Exited,
    Limits,
    OutOfMemory,
    TimedOut,
)
from proctor.sandbox.becoming import among_files, becoming, compile_in, end_of, run_in
from proctor.sandbox.box import Box
from proctor.sandbox.contents import Contents, look_at
from proctor.sandbox.drop import check, undropped
from proctor.sandbox.guest import Guest
from proctor.sandbox.headers import Headers, Wanted, show, wanted_by
from proctor.sandbox.job import Job, in_folder
from proctor.sandbox.packages import entries
from proctor.sandbox.pool import Pool
from proctor.sandbox.sealed import Sealed
from proctor.sandbox.sessions import ForeignRuns
from proctor.sandbox.warmth import warmed
from proctor.toolchain import Toolchain, find

INSTALLED = (
    "/var/lib/dpkg/status",
    "/var/lib/rpm/rpmdb.sqlite",
    "/usr/include",
    "/usr/local/include",
)
"""What changes when headers or libraries do."""
SELF_TEST_SECONDS = 10.0
WARMING = msgspec.structs.replace(
    LIMITS.with_seconds(600.0), output_bytes=1024 * MIB, scratch_bytes=2048 * MIB
)
COMPILING = msgspec.structs.replace(LIMITS, output_bytes=256 * MIB)
"""Headers that were compiled are as large as that."""


class Foreign:
    """Boxes for all languages that are offered here; safe for use by several threads."""

    def __init__(self, contents: Contents, make: Callable[[Contents], Box], idle: int) -> None:
        self._contents = contents
        self._make = make
        self._idle = idle
        self._builder = Builder()
        self._cache = Cache("compiled", made_with=INSTALLED)
        self._headers = Headers(self._compile, self._cache)
        self._sealed = Sealed()
        self._pools: dict[tuple[str, bool, int], Pool[Box]] = {}
        self._toolchains: dict[str, Toolchain] = {}
        self._tried: dict[str, str] = {}
        """Language → why it is not offered; nothing if it is."""
        self._lock = threading.Lock()
        self._trying = threading.Lock()

    def offer(self, language: str) -> Toolchain:
        """Return what runs a language here; a SandboxError says why nothing does."""
        with self._trying:
            if language not in self._tried:
                found = find(language)
                with undropped():
                    found = warmed(found, lambda program: self._warm_up(found, program))
                self._toolchains[language] = found
                self._tried[language] = self._try(found)
        if self._tried[language]:
            raise SandboxError(self._tried[language])
        return self._toolchains[language]

    def offered(self) -> dict[str, str]:
        """Return the languages that were asked for and work, with their versions."""
        known = self._toolchains
        return {name: known[name].version for name, why in self._tried.items() if not why}

    def _try(self, toolchain: Toolchain) -> str:
        """Run a language's self-test and say what is wrong, if anything is."""
        program = Program(source=toolchain.language.self_test, language=toolchain.language.name)
        limits = Limits().with_seconds(SELF_TEST_SECONDS)
        try:
            with undropped():
                execution = ForeignRuns(self, toolchain, program, limits).run(b"21\n")
        except SandboxError as error:
            return f"{toolchain.language.name} does not work here: {error}"
        if execution.ending == Exited(0) and execution.stdout == b"42\n":
            return ""
        last = execution.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        said = last[0] if last else str(execution.ending)
        return f"{toolchain.language.name} does not work here: its self-test says {said!r}"

    def _warm_up(self, toolchain: Toolchain, program: Program) -> Execution:
        """Compile a program for the sake of what its compiler keeps."""
        box = self._make(self._contents_for(toolchain))
        try:
            return compile_in(box, toolchain, program, WARMING, products=())
        finally:
            box.close()

    def repeat(self, program: Program, limits: Limits) -> ForeignRuns:
        """Prepare a program for any number of runs."""
        return ForeignRuns(self, self.offer(program.language), program, limits)

    def carry_out(self, job: Job) -> Execution:
        """Compile and run a program, among files that it is given if there are any."""
        toolchain, building = self.offer(job.program.language), job.building or LIMITS
        if job.bare:
            outcome: Outcome = Built(files=b"")
            if toolchain.language.products:  # else its runtime says what is wrong with it
                outcome = self.build(job.program, toolchain, building)
            if isinstance(outcome, Refused):
                return outcome.execution
            done = self.run(toolchain, job.program, job.limits, job.stdin, outcome.files)
            return msgspec.structs.replace(done, build=outcome.execution)
        name = becoming(toolchain, job.program, (), job.limits)["file"]
        job.refuse_name(name, *toolchain.language.products)
        pool = self._pool(
            toolchain, loopback=job.limits.loopback, shared_bytes=job.limits.scratch_bytes
        )
        return in_folder(pool, job, lambda box: among_files(box, toolchain, job, building))

    def build(self, program: Program, toolchain: Toolchain, limits: Limits = LIMITS) -> Outcome:
        """Compile a program, if that is how it comes to life."""
        words = toolchain.compiler(tests=program.tests)
        if not words:
            return Built(files=b"")

        def compile_() -> Execution:
            check()
            wanted = wanted_by(program, toolchain, limits)
            headers = None if wanted is None else self._headers.take(toolchain, wanted)
            if headers is None:
                return self._compile_whole(program, toolchain, limits)
            try:
                done = self._compile_whole(program, toolchain, limits, headers)
            finally:
                os.close(headers)
            if not isinstance(done.ending, Exited) or done.ending.code == 0:
                return done
            # Who refuses a program has read all of it, unless that takes more than it may in all.
            left = min(limits.cpu_seconds, limits.wall_seconds) - done.usage.wall_seconds
            again = self._compile_whole(program, toolchain, limits.with_seconds(max(left, 0.1)))
            return done if isinstance(again.ending, TimedOut) else again

        return self._builder.build(program, toolchain, compile_, limits)

    def _compile_whole(
        self, program: Program, toolchain: Toolchain, limits: Limits, headers: int | None = None
    ) -> Execution:
        pool = self._pool(toolchain, loopback=limits.loopback)
        box = pool.take()
        try:
            return compile_in(box, toolchain, program, limits, headers=headers)
        finally:
            pool.give_back(box)

    def make(self, toolchain: Toolchain, recipe: Recipe, *, keep: bool = False) -> Outcome:
        """Follow a recipe, or find what came of it before; `keep` it for other processes, too."""
        key = recipe.digest(toolchain)

        def compile_() -> Execution:
            check()
            made = self._cache.get(key) if keep else None
            if made is not None:
                return Execution(ending=Exited(0), stdout=made)
            done = self._follow(toolchain, recipe)
            if keep and done.ending == Exited(0):
                self._cache.put(key, done.stdout)
            return done

        return self._builder.build_as(key, toolchain, compile_)

    def _follow(self, toolchain: Toolchain, recipe: Recipe) -> Execution:
        """Follow a recipe; once more without compiled headers if the compiler crashes with them."""
        headers = None
        if recipe.headers:
            wanted = Wanted(recipe.headers, gcc.shared(toolchain), instances=recipe.instances)
            headers = self._headers.take(toolchain, wanted)
        if headers is None:
            return self._compile(toolchain, recipe, None)
        try:
            done = self._compile(toolchain, recipe, headers)
        finally:
            os.close(headers)
        if done.ending in (Exited(0), Exited(1)) or isinstance(done.ending, TimedOut | OutOfMemory):
            return done
        return self._compile(toolchain, recipe, None)

    def is_making(self, toolchain: Toolchain, recipe: Recipe) -> bool:
        """Say whether somebody follows a recipe at this moment."""
        return self._builder.is_building(recipe.digest(toolchain))

    def knows(self, fact: str) -> bool:
        """Say whether something was noted, by any process of this user with these compilers."""
        return self._cache.get(fact) is not None

    def note(self, fact: str) -> None:
        """Keep in mind that something is so."""
        self._cache.put(fact, b"")

    def _compile(self, toolchain: Toolchain, recipe: Recipe, headers: int | None) -> Execution:
        """Follow a recipe with compiled headers, if there are any."""
        nothing = Program(source="", language=toolchain.language.name)
        how = becoming(toolchain, nothing, (), COMPILING)
        how |= {"file": "", "steps": recipe.steps, "products": recipe.products}
        how["limits"]["address_bytes"] = None
        beside = show(how, headers)
        pool = self._pool(toolchain, loopback=False)
        box = pool.take()
        try:
            code = pack(recipe.files)
            return end_of(
                box.start("build", COMPILING, program=nothing, code=code, how=how, beside=beside)
            )
        finally:
            pool.give_back(box)

    def held(self, toolchain: Toolchain, recipe: Recipe, make: Callable[[], bytes]) -> int:
        """Return a descriptor, the caller's own, of what came of a recipe by `make`."""
        return self._sealed.file(recipe.digest(toolchain), make)

    def start(
        self,
        toolchain: Toolchain,
        host: int,
        files: Mapping[str, bytes],
        args: Sequence[str],
        limits: Limits,
    ) -> Guest:
        """Start a program that has a border at descriptor 3, in a folder with nothing but files."""
        check()
        size = os.fstat(host).st_size  # which is not the guest's own
        limits = msgspec.structs.replace(
            limits,
            scratch_bytes=limits.scratch_bytes + size,
            file_bytes=max(limits.file_bytes, size),
        )
        nothing = Program(source="", language=toolchain.language.name)
        how = becoming(toolchain, nothing, (), limits)
        how |= {"file": "", "argv": ["./host", *args], "border": True, "beside": "host"}
        pool = self._pool(toolchain, loopback=limits.loopback)
        box = pool.take()
        try:
            end = partial(pool.give_back, box)
            code = pack(files)
            return box.start("foreign", limits, code=code, how=how, beside=[host], finally_=end)
        except BaseException:
            pool.give_back(box)
            raise

    def run(
        self, toolchain: Toolchain, program: Program, limits: Limits, stdin: bytes, files: bytes
    ) -> Execution:
        """Run what a compiler left, or the source itself, in an empty scratch folder."""
        check()
        pool = self._pool(toolchain, loopback=limits.loopback)
        box = pool.take()
        try:
            return run_in(box, toolchain, program, limits, stdin, files=files)
        finally:
            pool.give_back(box)

    def _pool(self, toolchain: Toolchain, *, loopback: bool, shared_bytes: int = 0) -> Pool[Box]:
        key = (toolchain.language.name, loopback, shared_bytes)
        with self._lock:
            if key not in self._pools:
                contents = msgspec.structs.replace(
                    self._contents_for(toolchain), loopback=loopback, shared_bytes=shared_bytes
                )
                self._pools[key] = Pool(lambda: self._make(contents), self._idle)
            return self._pools[key]

    def _contents_for(self, toolchain: Toolchain) -> Contents:
        """Return what is in sight of a language's programs."""
        packages = entries(toolchain.language.packages, look_at(sys.executable).sites)
        return msgspec.structs.replace(
            self._contents, packages=packages, preload=(), shown=toolchain.shown
        )

    def idle(self) -> int:
        """Return how many boxes are warm and wait."""
        return sum(pool.idle for pool in [*self._pools.values()])

    def close(self) -> None:
        """End all boxes that are not in use."""
        for pool in self._pools.values():
            pool.close()
        self._headers.close()
        self._sealed.close()
