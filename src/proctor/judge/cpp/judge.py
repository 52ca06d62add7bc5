"""C++ tests and candidates as shared objects of their own, judged apart where values can cross.

    apart      a host with the tests, whose function is a stub; a host with the candidate
    together   one host with both, where the signature has types that do not cross, or the tests
               reach into the candidate's process; the candidate exports nothing but its function
    text       one text of both (`test_programs.py`), where tests need more of a candidate than that

Which it is follows from the task: its prompt's declaration, its test code, and in doubt from its
reference solution. Nothing that a candidate does leads from one to another.
"""

import hashlib
import os
import re
import secrets
import threading
from collections import OrderedDict
from typing import Literal

import msgspec

from proctor.errors import SandboxError
from proctor.extraction.assemble import reference_program
from proctor.judge import test_programs
from proctor.judge.assertions import CACHE_SIZE
from proctor.judge.conversation import CandidateEnded, Findings
from proctor.judge.cpp import codegen, relay
from proctor.judge.cpp.relay import TOKEN_BYTES, UnlinkedError
from proctor.judge.cpp.signature import Signature, mask_literals, parse_signature
from proctor.judge.judgement import Judgement
from proctor.judge.live_tests import EXAMINER_SECONDS, UnfitError
from proctor.judge.stdin import program_failure
from proctor.languages import gcc
from proctor.languages.compiler import (
    BuildRecipe,
    CompiledProgram,
    CompileFailure,
    Outcome,
    bucket_of,
    unpack_files,
)
from proctor.languages.toolchain import Toolchain
from proctor.records.execution import Execution
from proctor.records.program import Program
from proctor.records.task import Task, TestProgram
from proctor.records.verdict import Bucket, Passed, TestResult, decide
from proctor.sandbox import Sandbox
from proctor.sandbox.supervisor.guest import Guest
from proctor.sandbox.toolchains.runner import ToolchainRunner

Strategy = Literal["apart", "together", "text"]
ONE_PROCESS = re.compile(
    r"\b(?:try|catch|throw|rdbuf|freopen|fork|pthread_\w+|thread|async|jthread|setjmp|longjmp"
    r"|dlopen|dlsym|signal|sigaction|stdin|cin|\w*etenv|typeid)\b"
)
"""Words of tests that may reach into the candidate's process."""
STARTS = "{ global: proctor_start; local: *; };\n"


class _TaskState(msgspec.Struct, kw_only=True):
    """What is kept of a task between its samples."""

    task: Task
    tests: TestProgram
    signature: Signature | None
    strategy: Strategy
    headers: tuple[str, ...] = ()
    entry: str = ""
    """What stands behind every candidate."""
    begun: bool = False
    recipes: dict[str, BuildRecipe] = {}
    """How its parts are made."""
    settled: bool = False
    """Whether the reference has shown that the strategy is right."""
    settling: threading.Lock = msgspec.field(default_factory=threading.Lock)


class CppJudge:
    """Judges C++ test programs; safe for use by several threads."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._states: OrderedDict[str, _TaskState] = OrderedDict()
        self._lock = threading.Lock()

    def judge(self, task: Task, tests: TestProgram, program: Program) -> Judgement:
        """Judge one sample, apart if that can be done."""
        state = self._state(task, tests)
        while True:
            strategy = state.strategy
            found = self._by(state, program)
            passed = isinstance(found.verdict, Passed)
            if passed or strategy == "text" or self._settle(state) == strategy:
                return found

    def is_reference_known_good(self, task: Task) -> bool:
        """Say whether a task's reference is known to pass here."""
        with self._lock:
            state = self._states.get(task.sha256)
            return state is not None and state.settled and state.strategy != "text"

    def _state(self, task: Task, tests: TestProgram) -> _TaskState:
        """Look at a task once, however often it comes."""
        with self._lock:
            if task.sha256 not in self._states:
                self._states[task.sha256] = _look_at(task, tests)
                if len(self._states) > CACHE_SIZE:
                    self._states.popitem(last=False)
            return self._states[task.sha256]

    def _settle(self, state: _TaskState) -> Strategy:
        """Find out with the reference whether our strategy may have caused a failure."""
        with state.settling:
            right = None if state.settled else reference_program(state.task)
            if right is not None and not self._passes(state, right):
                state.strategy = "text"
            state.settled = True
            return state.strategy

    def _passes(self, state: _TaskState, right: Program) -> bool:
        """Say whether the reference passes by the strategy of its task; a pass is remembered."""
        if state.strategy == "text":
            return False
        test_build = self._test_build(state)
        proof = test_build.proof(right)
        if test_build.runner.is_verified(proof):
            return True
        passed = isinstance(self._in_parts(state, right).verdict, Passed)
        if passed:
            test_build.runner.mark_verified(proof)
        return passed

    def _by(self, state: _TaskState, program: Program) -> Judgement:
        """Judge a sample by the strategy of its task."""
        if state.strategy != "text":
            try:
                return self._in_parts(state, program)
            except UnfitError:  # nothing of the candidate's was heard by then
                state.strategy = "text"
        findings = test_programs.run_tests(self._sandbox, state.task, state.tests, program)
        return _found(findings, "together")

    def _test_build(self, state: _TaskState) -> "CppTestBuild":
        runner = self._sandbox.native("cpp")
        return CppTestBuild(runner, runner.require("cpp"), state)

    def _in_parts(self, state: _TaskState, program: Program) -> Judgement:
        test_build = self._test_build(state)
        if not state.begun:  # else another is making the parts meanwhile
            state.begun = True
            test_build.begin()
        made = test_build.candidate(program)
        parts = test_build.parts()
        execution: Execution | None = None
        end: CandidateEnded | None
        for whole in (False, True):
            if isinstance(made, CompileFailure):
                execution, end = made.execution, program_failure(made.execution, "cpp")
                break
            try:
                end, execution = _talk(test_build, parts, unpack_files(made.files)["part.so"])
                break
            except UnlinkedError as error:
                end = _not_loaded(str(error))
                made = made if whole else test_build.candidate(program, whole=True)
        clock = self._sandbox.enforcement().clock
        test = TestResult(index=0, passed=True) if end is None else end.result(0)
        if execution is not None:
            seconds = round(execution.usage.wall_seconds, 6)
            test = msgspec.structs.replace(test, seconds=seconds)
        shown = [] if execution is None else [execution]
        return _found(Findings(tests=[test], executions=shown, clock=clock), state.strategy)


def _not_loaded(said: str) -> CandidateEnded:
    """Say why a candidate could not be loaded: something is missing, or it is too large."""
    large = "failed to map" in said or "cannot allocate" in said
    return CandidateEnded(Bucket.MEMORY if large else Bucket.COMPILE, said)


def _found(findings: Findings, judged: str) -> Judgement:
    verdict = decide(findings.tests, timeout_is_final=True)
    return Judgement(verdict=verdict, findings=findings, judged=judged)


def _look_at(task: Task, tests: TestProgram) -> _TaskState:
    """Choose how candidates for a task are judged."""
    found = parse_signature(task.prompt, task.entry_point)
    strategy: Strategy = "text"
    if found is not None and codegen.tests(found, "", tests.code, apart=False) is not None:
        reaches = ONE_PROCESS.search(mask_literals(tests.code))
        strategy = "apart" if found.plain and not reaches else "together"
    state = _TaskState(task=task, tests=tests, signature=found, strategy=strategy)
    if found is not None:
        state.headers = gcc.prefix(f"{tests.setup}{found.head}")
        state.entry = codegen.entry(found, tests.code)
    return state


class CppTestBuild:
    """Makes the parts that a task is judged with."""

    def __init__(self, runner: ToolchainRunner, toolchain: Toolchain, state: _TaskState) -> None:
        assert state.signature is not None  # noqa: S101
        self.runner = runner
        self.toolchain = toolchain
        self.state = state
        self._signature = state.signature

    def begin(self) -> None:
        """Make what nobody else is making by then, and wait for nobody."""
        for recipe in self._recipes().values():
            if not self._is_being_made(recipe):
                self.runner.build_recipe(self.toolchain, recipe, keep=True)

    def parts(self) -> dict[str, bytes]:
        """Return all but the candidate: UnfitError if the tests do not compile without one."""
        recipes = self._recipes()
        parts = {}
        # What another is making comes last: two who begin a task together share its parts.
        for name in sorted(recipes, key=lambda one: self._is_being_made(recipes[one])):
            made = self.runner.build_recipe(self.toolchain, recipes[name], keep=True)
            parts[name] = _built(made, UnfitError if name == "tests.so" else SandboxError)
        return parts

    def _recipes(self) -> dict[str, BuildRecipe]:
        """Return how parts are made, which is known from the task alone."""
        state, apart = self.state, self.state.strategy == "apart"
        if not state.recipes:
            text = codegen.tests(self._signature, state.tests.setup, state.tests.code, apart=apart)
            recipes = {"tests.so": self._part(text or "", STARTS, state.headers)}
            if apart:
                call = codegen.caller(self._signature)
                recipes["caller.so"] = self._part(call, STARTS, gcc.prefix(call))
            state.recipes = recipes
        return state.recipes

    def _is_being_made(self, recipe: BuildRecipe) -> bool:
        return self.runner.is_making(self.toolchain, recipe)

    def candidate(self, program: Program, *, whole: bool = False) -> Outcome:
        """Make a candidate; `whole` with all libraries, so that nothing may be missing."""
        return self.runner.build_recipe(self.toolchain, self._recipe(program, whole=whole))

    def proof(self, right: Program) -> str:
        """Return a name for all that the reference is judged with, and for the reference."""
        made = hashlib.sha256(self._recipe(right).digest(self.toolchain).encode())
        made.update(self._host_recipe().digest(self.toolchain).encode())
        for part in (self.state.task.sha256.encode(), *self.parts().values()):
            made.update(hashlib.sha256(part).digest())
        return f"proof-{made.hexdigest()}"

    def _recipe(self, program: Program, *, whole: bool = False) -> BuildRecipe:
        setup = self.state.tests.setup
        source = f"{setup.rstrip()}\n{program.source}" if setup.strip() else program.source
        text = source + self.state.entry
        return self._part(text, codegen.EXPORTS, self.state.headers, whole=whole)

    def start(self, parts: dict[str, bytes], *names: str, trusted: bool = False) -> Guest:
        """Start a host with some parts; tests alone are trusted with time of their own."""
        limits = self.state.task.limits
        if trusted:
            limits = limits.with_seconds(max(EXAMINER_SECONDS, limits.wall_seconds))
        files = {name: parts[name] for name in names}
        args = [f"./{name}" for name in names]
        host = self._host()
        try:
            return self.runner.start(self.toolchain, host, files, args, limits)
        finally:
            os.close(host)

    def _host_recipe(self) -> BuildRecipe:
        steps = gcc.program(self.toolchain)
        return BuildRecipe(files=codegen.HOST, steps=steps, products=("host",))

    def _host(self) -> int:
        recipe = self._host_recipe()

        def make() -> bytes:
            made = self.runner.build_recipe(self.toolchain, recipe, keep=True)
            return _built(made, SandboxError, "host")

        return self.runner.keep_open(self.toolchain, recipe, make)

    def _part(
        self, text: str, exports: str, headers: tuple[str, ...], *, whole: bool = False
    ) -> BuildRecipe:
        """Return how a shared object is made of a text."""
        begun = gcc.prefix(text)[: len(headers)] == headers and not gcc.reaches_in(text, may=True)
        return BuildRecipe(
            files={
                "part.cpp": text.encode("utf-8", "surrogatepass"),
                "exports.map": exports.encode(),
            },
            steps=gcc.whole(self.toolchain) if whole else gcc.parts(self.toolchain).steps,
            products=("part.so",),
            headers=headers if begun else (),
            instances=codegen.INSTANCES,
        )


def _built(made: Outcome, error: type[Exception], name: str = "part.so") -> bytes:
    if isinstance(made, CompiledProgram):
        return unpack_files(made.files)[name]
    said = made.execution.stderr.decode("utf-8", "replace").strip()
    if bucket_of(made.execution) is not Bucket.COMPILE:
        error = SandboxError  # it may go better next time
    raise error(f"the tests do not compile by themselves: {said[:500]}")


def _talk(
    test_build: CppTestBuild, parts: dict[str, bytes], candidate: bytes
) -> tuple[CandidateEnded | None, Execution]:
    """Run tests with a candidate; say what went wrong, and what the candidate's process did."""
    parts = {**parts, "candidate.so": candidate}
    token, other = secrets.token_bytes(TOKEN_BYTES), secrets.token_bytes(TOKEN_BYTES)
    if test_build.state.strategy != "apart":
        guest = test_build.start(parts, "candidate.so", "tests.so")
        try:
            relay.begin(guest, token)
            end = relay.hear_together(guest, token)
        finally:
            execution = guest.finish()
        return end, execution
    tests = test_build.start(parts, "tests.so", trusted=True)
    try:
        relay.begin(tests, token)
        guest = test_build.start(parts, "candidate.so", "caller.so")
        try:
            relay.begin(guest, other)
            end = relay.hear(tests, guest, token)
        finally:
            execution = guest.finish()
    finally:
        tests.finish()
    return end, execution
