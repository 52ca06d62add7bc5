"""What judging one sample comes to, and the rules that a user may choose."""

import msgspec

from proctor.judge.conversation import Findings
from proctor.records.limits import Limits
from proctor.records.verdict import Verdict


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """How to judge, where the user has a say."""

    early_stop: bool = False
    compare: str | None = None
    """A profile that replaces the tasks' own profiles and checkers."""
    checker: str | None = None
    """Code of a checker that does so."""
    max_tests: int | None = None
    task_seconds: float = 120.0
    """The most that all cases of one sample may take together."""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict and how it came about."""

    verdict: Verdict
    judged: str = "apart"
    findings: Findings = Findings(tests=())
    attempts: int = 1
    limits: Limits | None = None
    """The limits that held, if they are not the task's own."""
    host: str = ""
    """Where it was judged; the engine fills this in."""
    toolchain: str = ""
    """What ran the program there; the engine fills this in."""
