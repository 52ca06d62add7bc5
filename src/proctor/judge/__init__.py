"""From a task and a program to a verdict.

judge → stdin, calls   the supervisor compares what the candidate answers
      → code           test code: compared here where it is plain, else run by an examiner,
                       and together with the candidate only where it cannot be run apart
"""

import msgspec

from proctor.errors import InputError, ProctorError
from proctor.judge import stdin
from proctor.judge.calls import Calls, called, question
from proctor.judge.code import CodeJudge
from proctor.judge.compare import Profile, profile
from proctor.judge.examination import UnfitError
from proctor.judge.reduce import Case
from proctor.judge.supervisor import Findings
from proctor.judge.unit import UnitJudge
from proctor.program import Program
from proctor.sandbox import Sandbox
from proctor.task import (
    Assertions,
    CallCases,
    CheckFunction,
    Compare,
    StdinCases,
    Task,
    UnitTests,
)
from proctor.verdict import Bucket, Failed, Passed, Unscored, Verdict, decide

PROBES = [
    Task(task_id="probe", entry_point="probe", tests=Assertions(targets=[target]))
    for target in ("probe(20) == 41", "max(probe(1), 0) == 3")
]
"""One that is compared here, and one that needs an examiner."""
PROBE_PROGRAM = Program(source="def probe(n):\n    return 2 * n + 1\n")


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """How to judge, where the user has a say."""

    early_stop: bool = False
    compare: str | None = None
    """A profile that replaces the tasks' own."""
    max_tests: int | None = None
    one_at_a_time: bool = False
    """Send no call before the one before it is answered."""
    task_seconds: float = 120.0
    """The most that all cases of one sample may take together."""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict and how it came about."""

    verdict: Verdict
    judged: str = "apart"
    findings: Findings = Findings(tests=())
    attempts: int = 1


class Judge:
    """Judges samples with one sandbox; safe for use by several threads."""

    def __init__(self, sandbox: Sandbox, rules: Rules | None = None) -> None:
        self._sandbox = sandbox
        self._rules = rules or Rules()
        self._code = CodeJudge(
            sandbox,
            early_stop=self._rules.early_stop,
            one_at_a_time=self._rules.one_at_a_time,
        )
        self._unit = UnitJudge(sandbox, early_stop=self._rules.early_stop)

    def judge(self, task: Task, program: Program) -> Judgement:
        """Judge one sample; a failure of ours is tried once more, then unscored.

        A program that brings down two sandboxes while a known-good one passes in both has
        crashed: failing the harness is no way out.
        """
        trouble = ""
        verdict: Verdict
        for attempt in (1, 2):
            try:
                judgement = self._judge(task, program)
                return msgspec.structs.replace(judgement, attempts=attempt)
            except UnfitError as error:
                verdict = Unscored(bucket=Bucket.BENCHMARK, reason=str(error))
                return Judgement(verdict=verdict, attempts=attempt)
            except InputError:
                raise
            except ProctorError as error:
                trouble = str(error)
            if not self._works():
                return Judgement(verdict=Unscored(reason=trouble), attempts=attempt)
        verdict = Failed(bucket=Bucket.CRASH, detail=f"brought the sandbox down: {trouble}")
        return Judgement(verdict=verdict, attempts=2)

    def _works(self) -> bool:
        """Say whether the sandbox judges a known-good program right."""
        try:
            verdicts = [self._judge(probe, PROBE_PROGRAM).verdict for probe in PROBES]
            return all(isinstance(verdict, Passed) for verdict in verdicts)
        except ProctorError:
            return False

    def _judge(self, task: Task, program: Program) -> Judgement:
        match task.tests:
            case StdinCases() as cases:
                return self._judge_stdin(task, program, cases)
            case CallCases() as cases:
                return self._judge_calls(task, program, cases)
            case Assertions() | CheckFunction():
                found = self._code.judge(task, program)
                return Judgement(
                    verdict=found.verdict, judged=found.judged, findings=found.findings
                )
            case UnitTests():
                unit = self._unit.judge(task, program)
                return Judgement(verdict=unit.verdict, judged="together", findings=unit.findings)
            case other:
                kind = type(other).__struct_config__.tag
                raise UnfitError(f"tests of kind {kind} cannot be judged by this version")

    def _judge_stdin(self, task: Task, program: Program, cases: StdinCases) -> Judgement:
        chosen = self._choose([len(text) for text in cases.inputs])
        some = msgspec.structs.replace(
            cases,
            inputs=[cases.inputs[index] for index in chosen],
            outputs=[cases.outputs[index] for index in chosen],
        )
        findings = stdin.run_cases(
            self._sandbox,
            program,
            some,
            task.limits,
            self._profile(cases.compare, "tiered"),
            early_stop=self._rules.early_stop,
            task_seconds=self._task_seconds(task, len(chosen)),
        )
        return Judgement(verdict=decide(findings.tests, declared=len(chosen)), findings=findings)

    def _judge_calls(self, task: Task, program: Program, cases: CallCases) -> Judgement:
        chosen = self._choose([len(repr(given)) for given in cases.inputs])
        target = task.entry_point or called(cases.fn_name, program)
        questions = [
            question(
                Case(
                    index=place,
                    target=target,
                    args=cases.inputs[index],
                    kwargs=cases.kwargs[index] if cases.kwargs else {},
                    expected=cases.outputs[index],
                ),
                cases.compare_argument,
            )
            for place, index in enumerate(chosen)
        ]
        compare = self._profile(cases.compare, "exact").value
        findings = Calls(self._sandbox, program, task, compare).run(
            questions,
            early_stop=self._rules.early_stop,
            task_seconds=self._task_seconds(task, len(chosen)),
        )
        return Judgement(verdict=decide(findings.tests, declared=len(chosen)), findings=findings)

    def _choose(self, sizes: list[int]) -> list[int]:
        """Return which cases to run: with a maximum, the longest inputs, in their old order."""
        most = self._rules.max_tests
        if most is None or len(sizes) <= most:
            return list(range(len(sizes)))
        longest = sorted(range(len(sizes)), key=lambda index: -sizes[index])[:most]
        return sorted(longest)

    def _task_seconds(self, task: Task, cases: int) -> float:
        return min(task.limits.wall_seconds * cases, self._rules.task_seconds)

    def _profile(self, compare: Compare | None, default: str) -> Profile:
        wanted = self._rules.compare or compare
        if isinstance(wanted, dict):
            raise UnfitError("checkers cannot be run by this version")
        return profile(wanted, default=default)
