"""Programs of other languages than Python in the kernel tier: boxes of their own, built, run.

A language is tried once before it is offered: its self-test is compiled and run like any program.
"""

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec

from proctor.cancellation import raise_if_cancelled, shielded
from proctor.errors import SandboxError
from proctor.languages import gcc
from proctor.languages.compiler import (
    LIMITS,
    Builder,
    BuildRecipe,
    CompiledProgram,
    CompileFailure,
    Outcome,
    pack_files,
)
from proctor.languages.toolchain import Toolchain, find_toolchain
from proctor.records.execution import Execution, Exited, OutOfMemory, TimedOut
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.supervisor.box_contents import BoxContents, inspect_interpreter
from proctor.sandbox.supervisor.box_pool import Pool
from proctor.sandbox.supervisor.guest import Guest
from proctor.sandbox.supervisor.job import Job, path_in_folder
from proctor.sandbox.supervisor.packages import package_entries
from proctor.sandbox.toolchains.execute import (
    compile_in_box,
    ending_of,
    files_around,
    make_exec_spec,
    run_in_box,
)
from proctor.sandbox.toolchains.go_build_cache import go_cache_folder
from proctor.sandbox.toolchains.precompiled_headers import (
    HeaderRequest,
    PrecompiledHeaders,
    headers_used_by,
    show,
)
from proctor.sandbox.toolchains.sealed_memfd import SealedFile
from proctor.storage.cache import Cache

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


class ToolchainRunner:
    """Boxes for all languages that are offered here; safe for use by several threads."""

    def __init__(
        self, contents: BoxContents, make: Callable[[BoxContents], Box], idle: int
    ) -> None:
        self._contents = contents
        self._make = make
        self._idle = idle
        self._builder = Builder()
        self._cache = Cache("compiled", made_with=INSTALLED)
        self._headers = PrecompiledHeaders(self._compile, self._cache)
        self._sealed = SealedFile()
        self._pools: dict[tuple[str, bool, int], Pool[Box]] = {}
        self._toolchains: dict[str, Toolchain] = {}
        self._tried: dict[str, str] = {}
        """Language → why it is not offered; nothing if it is."""
        self._lock = threading.Lock()
        self._trying = threading.Lock()

    def require(self, language: str) -> Toolchain:
        """Return the toolchain of a language that works here; a SandboxError says why none does."""
        with self._trying:
            if language not in self._tried:
                found = find_toolchain(language)
                with shielded():
                    found = go_cache_folder(found, lambda program: self._warm_up(found, program))
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
            with shielded():
                execution = CompiledRuns(self, toolchain, program, limits).run(b"21\n")
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
            return compile_in_box(box, toolchain, program, WARMING, products=())
        finally:
            box.close()

    def repeat(self, program: Program, limits: Limits) -> "CompiledRuns":
        """Prepare a program for any number of runs."""
        return CompiledRuns(self, self.require(program.language), program, limits)

    def run_job(self, job: Job) -> Execution:
        """Compile and run a program, among files that it is given if there are any."""
        toolchain, building = self.require(job.program.language), job.building or LIMITS
        if job.bare:
            outcome: Outcome = CompiledProgram(files=b"")
            if toolchain.language.products:  # else its runtime says what is wrong with it
                outcome = self.build(job.program, toolchain, building)
            if isinstance(outcome, CompileFailure):
                return outcome.execution
            done = self.run(toolchain, job.program, job.limits, job.stdin, outcome.files)
            return msgspec.structs.replace(done, build=outcome.execution)
        name = make_exec_spec(toolchain, job.program, (), job.limits)["file"]
        job.refuse_name(name, *toolchain.language.products)
        pool = self._pool(
            toolchain, loopback=job.limits.loopback, shared_bytes=job.limits.scratch_bytes
        )
        return path_in_folder(pool, job, lambda box: files_around(box, toolchain, job, building))

    def build(self, program: Program, toolchain: Toolchain, limits: Limits = LIMITS) -> Outcome:
        """Compile a program, if that is how it comes to life."""
        words = toolchain.compiler(tests=program.tests)
        if not words:
            return CompiledProgram(files=b"")

        def compile_() -> Execution:
            raise_if_cancelled()
            wanted = headers_used_by(program, toolchain, limits)
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
            return compile_in_box(box, toolchain, program, limits, headers=headers)
        finally:
            pool.give_back(box)

    def build_recipe(
        self, toolchain: Toolchain, recipe: BuildRecipe, *, keep: bool = False
    ) -> Outcome:
        """Follow a recipe or reuse its result; `keep` stores it for later processes."""
        key = recipe.digest(toolchain)

        def compile_() -> Execution:
            raise_if_cancelled()
            made = self._cache.get(key) if keep else None
            if made is not None:
                return Execution(ending=Exited(0), stdout=made)
            done = self._follow(toolchain, recipe)
            if keep and done.ending == Exited(0):
                self._cache.put(key, done.stdout)
            return done

        return self._builder.build_as(key, toolchain, compile_)

    def _follow(self, toolchain: Toolchain, recipe: BuildRecipe) -> Execution:
        """Follow a recipe; once more without compiled headers if the compiler crashes with them."""
        headers = None
        if recipe.headers:
            wanted = HeaderRequest(
                recipe.headers, gcc.shared(toolchain), instances=recipe.instances
            )
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

    def is_making(self, toolchain: Toolchain, recipe: BuildRecipe) -> bool:
        """Say whether somebody follows a recipe at this moment."""
        return self._builder.is_building(recipe.digest(toolchain))

    def is_verified(self, fact: str) -> bool:
        """Return whether any process of this user has recorded a fact for these compilers."""
        return self._cache.get(fact) is not None

    def mark_verified(self, fact: str) -> None:
        """Record a fact for later processes with the same compilers."""
        self._cache.put(fact, b"")

    def _compile(self, toolchain: Toolchain, recipe: BuildRecipe, headers: int | None) -> Execution:
        """Follow a recipe with compiled headers, if there are any."""
        nothing = Program(source="", language=toolchain.language.name)
        spec = make_exec_spec(toolchain, nothing, (), COMPILING)
        spec |= {"file": "", "steps": recipe.steps, "products": recipe.products}
        spec["limits"]["address_bytes"] = None
        extra_fds = show(spec, headers)
        pool = self._pool(toolchain, loopback=False)
        box = pool.take()
        try:
            code = pack_files(recipe.files)
            return ending_of(
                box.start(
                    "build",
                    COMPILING,
                    program=nothing,
                    code=code,
                    exec_spec=spec,
                    extra_fds=extra_fds,
                )
            )
        finally:
            pool.give_back(box)

    def keep_open(
        self, toolchain: Toolchain, recipe: BuildRecipe, make: Callable[[], bytes]
    ) -> int:
        """Return a new descriptor of what `make` returns for a recipe; it is called once."""
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
        raise_if_cancelled()
        size = os.fstat(host).st_size  # which is not the guest's own
        limits = msgspec.structs.replace(
            limits,
            scratch_bytes=limits.scratch_bytes + size,
            file_bytes=max(limits.file_bytes, size),
        )
        nothing = Program(source="", language=toolchain.language.name)
        spec = make_exec_spec(toolchain, nothing, (), limits)
        spec |= {"file": "", "argv": ["./host", *args], "border": True, "extra_file": "host"}
        pool = self._pool(toolchain, loopback=limits.loopback)
        box = pool.take()
        try:
            end = partial(pool.give_back, box)
            code = pack_files(files)
            return box.start(
                "toolchain", limits, code=code, exec_spec=spec, extra_fds=[host], finally_=end
            )
        except BaseException:
            pool.give_back(box)
            raise

    def run(
        self, toolchain: Toolchain, program: Program, limits: Limits, stdin: bytes, files: bytes
    ) -> Execution:
        """Run what a compiler left, or the source itself, in an empty scratch folder."""
        raise_if_cancelled()
        pool = self._pool(toolchain, loopback=limits.loopback)
        box = pool.take()
        try:
            return run_in_box(box, toolchain, program, limits, stdin, files=files)
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

    def _contents_for(self, toolchain: Toolchain) -> BoxContents:
        """Return what is in sight of a language's programs."""
        packages = package_entries(
            toolchain.language.packages, inspect_interpreter(sys.executable).sites
        )
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


class CompiledRuns:
    """One program of another language, compiled once, run again and again."""

    def __init__(
        self, runner: ToolchainRunner, toolchain: Toolchain, program: Program, limits: Limits
    ) -> None:
        self._runner = runner
        self._toolchain = toolchain
        self._program = program
        self._limits = limits
        self._outcome: Outcome | None = None

    def run(self, stdin: bytes, output_bytes: int | None = None) -> Execution:
        """Run it once, in an empty scratch folder."""
        if self._outcome is None:
            self._outcome = self._runner.build(self._program, self._toolchain)
        if isinstance(self._outcome, CompileFailure):
            return self._outcome.execution
        limits = self._limits
        if output_bytes is not None:
            limits = msgspec.structs.replace(limits, output_bytes=output_bytes)
        files = self._outcome.files
        return self._runner.run(self._toolchain, self._program, limits, stdin, files)

    def close(self) -> None:
        """Nothing is held between runs."""
