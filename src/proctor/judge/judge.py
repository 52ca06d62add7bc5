"""Judges one sample by the kind of its task's tests, and retries what failed on our side."""

import traceback
from pathlib import Path

import msgspec

from proctor.errors import GIVES_OUT, HostError, InputError, ProctorError, SandboxError
from proctor.judge import stdin, test_programs
from proctor.judge.assertions import AssertionJudge
from proctor.judge.calls import CallSequence, call_target, encode_call
from proctor.judge.checker import Checker, by_text, by_value
from proctor.judge.comparators import Profile, parse_profile
from proctor.judge.conversation import Findings
from proctor.judge.cpp.judge import CppJudge
from proctor.judge.judgement import Judgement, Rules
from proctor.judge.literal_asserts import Case
from proctor.judge.live_tests import UnfitError
from proctor.judge.reference_calls import ReferenceCallsJudge
from proctor.judge.reference_comparison import Value
from proctor.judge.unit_tests import UnitTestJudge
from proctor.records.execution import Exited
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import (
    Assertions,
    CallCases,
    CheckFunction,
    Compare,
    ReferenceCases,
    StdinCases,
    Task,
    TestProgram,
    UnitTests,
)
from proctor.records.verdict import Bucket, Failed, Passed, Unscored, Verdict, decide
from proctor.sandbox import Sandbox

PROBES = [
    Task(task_id="probe", entry_point="probe", tests=Assertions(targets=[target]))
    for target in ("probe(20) == 41", "max(probe(1), 0) == 3")
]
"""One that is compared here, and one that needs an examiner."""
PROBE_PROGRAM = Program(source="def probe(n):\n    return 2 * n + 1\n")
ONE_DAY_SECONDS = 86400.0
"""No try takes as long: a box beside it must not go by itself because nobody uses it."""


class Judge:
    """Judges samples with one sandbox; safe for use by several threads."""

    def __init__(self, sandbox: Sandbox, rules: Rules | None = None) -> None:
        self._sandbox = sandbox
        self._rules = rules or Rules()
        self._code = AssertionJudge(sandbox, early_stop=self._rules.early_stop)
        self._parts = CppJudge(sandbox)
        self._unit = UnitTestJudge(sandbox, early_stop=self._rules.early_stop)
        self._reference = ReferenceCallsJudge(
            sandbox,
            self._code,
            narrow=self._narrowed,
            value=self._value_of,
            early_stop=self._rules.early_stop,
        )

    def judge(self, task: Task, program: Program) -> Judgement:
        """Judge one sample; a failure of ours is tried once more, then unscored.

        A program that brings down two boxes, while a known-good one passes after each and an empty
        box beside the second comes through, has crashed: failing the harness is no way out. A
        host that gives out is a HostError.
        """
        try:
            return self._judge_or_try_again(task, program)
        except OSError as error:
            if error.errno not in GIVES_OUT:
                raise
            raise HostError(f"cannot judge {task.task_id}: {error.strerror}") from error

    def is_reference_known_good(self, task: Task) -> bool:
        """Say whether a task's reference is known to pass, from having judged its samples."""
        return self._parts.is_reference_known_good(task)

    def _judge_or_try_again(self, task: Task, program: Program) -> Judgement:
        try:
            if program.language != "python":
                self._sandbox.require_language(program.language)
        except SandboxError as error:  # nothing that a candidate did
            return Judgement(verdict=Unscored(reason=str(error)))
        first = self._try(task, program)
        if isinstance(first, Judgement):
            return first
        if not self._works():
            return Judgement(verdict=Unscored(reason=first))
        second, calm = self._try_beside_a_witness(task, program)
        if isinstance(second, Judgement):
            return msgspec.structs.replace(second, attempts=2)
        verdict: Verdict = Unscored(reason=second)
        if calm and self._works():
            verdict = Failed(bucket=Bucket.CRASH, detail=f"brought the sandbox down: {second}")
        return Judgement(verdict=verdict, attempts=2)

    def _try(self, task: Task, program: Program) -> Judgement | str:
        """Judge one sample, or say what went wrong on our side."""
        try:
            return self._judge(task, program)
        except UnfitError as error:
            return Judgement(verdict=Unscored(bucket=Bucket.BENCHMARK, reason=str(error)))
        except (InputError, HostError):
            raise  # no sample is to blame, and none after it would do better
        except ProctorError as error:
            return str(error)
        except OSError:
            raise  # the caller tells a host that gives out from other trouble
        except Exception as error:  # noqa: BLE001  a defect of ours costs one sample, not the run
            return Judgement(verdict=Unscored(reason=_internal_error(error)))

    def _try_beside_a_witness(self, task: Task, program: Program) -> tuple[Judgement | str, bool]:
        """Try it while another box stands empty, and say whether that one came through.

        If it did not, something other than the program takes boxes down.
        """
        try:
            witness = self._sandbox.session(Limits(), idle_seconds=ONE_DAY_SECONDS)
        except SandboxError as error:
            return str(error), False
        try:
            tried = self._try(task, program)
            calm = isinstance(tried, str) and witness.exec(PROBE_PROGRAM).ending == Exited(0)
        except SandboxError:
            calm = False
        finally:
            witness.close()
        return tried, calm

    def _works(self) -> bool:
        """Say whether the sandbox judges a known-good program right."""
        try:
            verdicts = [self._judge(probe, PROBE_PROGRAM).verdict for probe in PROBES]
            return all(isinstance(verdict, Passed) for verdict in verdicts)
        except HostError:
            raise
        except ProctorError:
            return False

    def _judge(self, task: Task, program: Program) -> Judgement:
        match task.tests:
            case StdinCases() as cases:
                return self._judge_stdin(task, program, cases)
            case CallCases() as cases:
                return self._judge_calls(task, program, cases)
            case ReferenceCases() as cases:
                return self._reference.judge(task, cases, program)
            case Assertions() | CheckFunction():
                return self._code.judge(task, program)
            case UnitTests():
                return self._unit.judge(task, program)
            case TestProgram() as tests if task.language == "cpp" and task.context is None:
                return self._parts.judge(task, tests, program)
            case TestProgram() as tests:
                findings = test_programs.run_tests(self._sandbox, task, tests, program)
                verdict = decide(findings.tests, timeout_is_final=True)
                return Judgement(verdict=verdict, judged="together", findings=findings)

    def _judge_stdin(self, task: Task, program: Program, cases: StdinCases) -> Judgement:
        chosen = self._choose([len(text) for text in cases.inputs], cases.max_tests)
        some = msgspec.structs.replace(
            cases,
            inputs=[cases.inputs[index] for index in chosen],
            outputs=[cases.outputs[index] for index in chosen],
        )
        checker = self._checker(task, cases.compare)
        findings = stdin.run_cases(
            self._sandbox,
            program,
            some,
            task.limits,
            checker or by_text(self._profile(cases.compare, "tiered")),
            early_stop=self._rules.early_stop,
            task_seconds=self._task_seconds(task, len(chosen)),
        )
        return _judgement(findings, chosen)

    def _judge_calls(self, task: Task, program: Program, cases: CallCases) -> Judgement:
        chosen = self._choose([len(repr(given)) for given in cases.inputs], cases.max_tests)
        checker = self._checker(task, cases.compare)
        target = task.entry_point or call_target(cases.fn_name, program)
        calls = [
            encode_call(
                Case(
                    index=place,
                    target=target,
                    args=cases.inputs[index],
                    kwargs=cases.kwargs[index] if cases.kwargs else {},
                    expected=cases.outputs[index],
                ),
                cases.compare_argument,
                only_equal=checker is None,
            )
            for place, index in enumerate(chosen)
        ]
        accept = checker or by_value(self._profile(cases.compare, "exact"))
        findings = CallSequence(self._sandbox, program, task, accept).run(
            calls,
            early_stop=self._rules.early_stop,
            task_seconds=self._task_seconds(task, len(chosen)),
        )
        return _judgement(findings, chosen)

    def _narrowed(self, cases: ReferenceCases) -> ReferenceCases:
        """Keep the cases that are to be run; their groups stay what they are called."""
        if self._rules.max_tests is None:
            return cases
        sizes = [len(repr(given)) for given in cases.inputs]
        longest = sorted(range(len(sizes)), key=lambda index: -sizes[index])
        chosen = sorted(longest[: self._rules.max_tests])
        groups = [name for name, count in cases.groups.items() for _ in range(count)]
        kept = [groups[index] for index in chosen] if groups else []
        return msgspec.structs.replace(
            cases,
            inputs=[cases.inputs[index] for index in chosen],
            groups={name: kept.count(name) for name in cases.groups},
            also={chosen.index(i): value for i, value in cases.also.items() if i in chosen},
        )

    def _value_of(self, cases: ReferenceCases) -> Value:
        return self._profile(cases.compare, "exact").value

    def _choose(self, sizes: list[int], usual: int | None) -> list[int]:
        """Return which cases to run: if not all, those with the longest inputs, longest first."""
        most = self._rules.max_tests or usual
        if most is None or len(sizes) <= most:
            return list(range(len(sizes)))
        return sorted(range(len(sizes)), key=lambda index: -sizes[index])[:most]

    def _task_seconds(self, task: Task, cases: int) -> float:
        return min(task.limits.wall_seconds * cases, self._rules.task_seconds)

    def _checker(self, task: Task, compare: Compare | None) -> Checker | None:
        code = self._rules.checker
        if code is None and self._rules.compare is None and isinstance(compare, dict):
            code = compare.get("checker", "")
        return None if code is None else Checker(self._sandbox, task, code)

    def _profile(self, compare: Compare | None, default: str) -> Profile:
        usual = compare if isinstance(compare, str) else None
        return parse_profile(self._rules.compare or usual, default=default)


def _internal_error(error: Exception) -> str:
    """Say where a defect of ours showed, so that a user can report it."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}, line {place.lineno}"
    return f"internal error ({where}): {type(error).__name__}: {error}; please report it"


def _judgement(findings: Findings, chosen: list[int]) -> Judgement:
    """Decide, and number the tests as the task has them."""
    tests = [
        msgspec.structs.replace(test, index=index)
        for test, index in zip(findings.tests, chosen, strict=False)
    ]
    findings = msgspec.structs.replace(findings, tests=tests)
    return Judgement(verdict=decide(tests, declared=len(chosen)), findings=findings)
