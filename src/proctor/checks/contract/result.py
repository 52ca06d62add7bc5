"""What came of a contract: one finding a line, and when, where and on what it was found."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum

import msgspec

from proctor.benchmarks.source import Declaration
from proctor.records.execution import Enforcement

SCHEMA = 1
SHOWN = 20
"""Tasks that a finding names; how many there are stands in its evidence."""
PARTIAL = "partial, not enough for rotation"


class Status(StrEnum):
    """What can be said of one line."""

    HELD = "held"
    WARNING = "warning"
    """It holds, but not by much."""
    DOES_NOT_APPLY = "does not apply"
    UNKNOWN = "unknown"
    """It could not be looked at here; nothing is proven."""
    BROKEN = "broken"


NOT_PROVEN = (Status.BROKEN, Status.UNKNOWN)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about one line of the contract."""

    line: str
    says: str
    """What the line asks for."""
    word: Status
    evidence: str
    """One sentence."""
    tasks: Sequence[str] = ()
    """Tasks that break it, the first ones."""
    known: Mapping[str, str] = {}
    """Tasks that break it as the benchmark itself says, and why; they do not count."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a benchmark keeps its contract, and when, where and on what that was found."""

    benchmark: str
    benchmark_sha256: str | None
    """Of all tasks in order; none if they could not be read."""
    files: Mapping[str, str]
    """Where its tasks were read from, and the sha256 of the content."""
    tasks: int
    """Tasks that were looked at."""
    of: int
    """Tasks that there are."""
    holds: bool
    """Whether no line is broken or unknown, for the tasks that were looked at."""
    partial: bool
    in_rotation: bool
    reason: str
    """Why it is not in rotation; empty if it is."""
    findings: Sequence[Finding]
    declares: Declaration
    created: str
    host: str
    enforcement: Enforcement
    """The tier, what it holds candidates to, and the toolchains."""
    versions: Mapping[str, str]
    seconds: float
    schema: int = SCHEMA

    def is_fresh(self, within: timedelta) -> bool:
        """Say whether it was found not longer ago than that."""
        return datetime.now(UTC) - datetime.fromisoformat(self.created) <= within


def reason_of(findings: Sequence[Finding], *, partial: bool) -> str:
    """Say why a benchmark is not in rotation, nothing if it is."""
    bad = [one for one in findings if one.word in NOT_PROVEN]
    if bad:
        more = f", and {len(bad) - 1} more lines" if len(bad) > 1 else ""
        return f"{bad[0].line}: {bad[0].evidence}{more}"
    return PARTIAL if partial else ""
