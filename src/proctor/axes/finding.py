"""What static analysis says of one candidate: Kind, Finding, SampleStatus, FindingReader."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """What a finding is about."""

    INVENTED_HEADER = "invented_header"
    INVENTED_SYMBOL = "invented_symbol"
    INVENTED_MEMBER = "invented_member"
    OVERLOAD_MISMATCH = "overload_mismatch"
    MISSING_INCLUDE = "missing_include"
    NOT_VISIBLE = "not_visible"
    OUT_OF_CALL_GRAPH = "out_of_call_graph"
    ACCESS_VIOLATION = "access_violation"


INVENTIONS = frozenset(
    {
        Kind.INVENTED_HEADER,
        Kind.INVENTED_SYMBOL,
        Kind.INVENTED_MEMBER,
        Kind.OVERLOAD_MISMATCH,
    }
)
"""What makes a candidate one that hallucinates."""


class SampleStatus(StrEnum):
    """How much a reading is worth."""

    OK = "ok"
    SYNTAX_ERROR = "syntax_error_in_candidate"
    CONTEXT_BROKEN = "context_broken"
    PARSER_FAILED = "parser_failed"
    PARSER_TIMEOUT = "parser_timeout"
    PARSER_DISAGREES = "parser_disagrees"
    UNATTRIBUTED = "unattributed"


COUNTED = frozenset({SampleStatus.OK, SampleStatus.SYNTAX_ERROR})
"""Readings that rates are made of; all others are excluded, and said to be."""


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One name that is not what the candidate takes it for, and where it stands in its text."""

    kind: Kind
    name: str
    qualified: str
    line: int
    column: int
    what: str = "name"
    """`header`, or `name`."""
    base: str = ""
    """The class that has no such member."""
    arguments: int | None = None
    candidates: int | None = None
    """How many functions there are by that name."""


class Error(msgspec.Struct, frozen=True, kw_only=True):
    """An error that is about no name: types, syntax, what is defined twice."""

    line: int
    column: int
    category: str


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """What the parser's side says of one candidate."""

    syntax: bool
    count: Mapping[str, int]
    findings: Sequence[Finding]
    errors: Sequence[Error]
    outside: int
    """Errors elsewhere, as in a template of the standard library."""


class FindingReader(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one candidate, and how much that is worth."""

    status: SampleStatus
    detail: str = ""
    findings: Sequence[Finding] = ()
    errors: Sequence[Error] = ()
    outside_errors: int = 0
    n_refs: int = 0
    n_in_context: int = 0
    n_out_of_context: int = 0
    n_system: int = 0
    n_local: int = 0
    n_dependent: int = 0
    n_cascade: int = 0

    @property
    def invented(self) -> int:
        """How many findings are inventions."""
        return sum(finding.kind in INVENTIONS for finding in self.findings)

    @property
    def adherence(self) -> float | None:
        """The share of names of the repository that were given; None if there are none."""
        missed = sum(finding.kind is Kind.NOT_VISIBLE for finding in self.findings)
        total = self.n_in_context + self.n_out_of_context + missed + self.invented
        return self.n_in_context / total if total else None


def reader_for(seen: Observation) -> FindingReader:
    """Make a reading of what was seen; whether a compiler agrees is another matter."""
    count = seen.count
    return FindingReader(
        status=SampleStatus.SYNTAX_ERROR if seen.syntax else SampleStatus.OK,
        findings=seen.findings,
        errors=seen.errors,
        outside_errors=seen.outside,
        n_refs=count.get("refs", 0),
        n_in_context=count.get("in_context", 0),
        n_out_of_context=count.get("out_of_context", 0),
        n_system=count.get("system", 0),
        n_local=count.get("local", 0),
        n_dependent=count.get("dependent", 0),
        n_cascade=count.get("cascade", 0),
    )


def check_finding(reading: FindingReader, *, compiled: bool | None) -> FindingReader:
    """Put a reading beside what the declared compiler says; None: it says nothing.

    What that compiler takes is no invention, whatever the parser thinks of it. What it refuses for
    no reason that the parser sees has a reason that nobody knows.
    """
    if reading.status not in COUNTED or compiled is None:
        return reading
    wrong = [one for one in reading.findings if one.kind is not Kind.OUT_OF_CALL_GRAPH]
    seen = bool(wrong or reading.errors)
    if compiled and (seen or reading.outside_errors):
        kept = [one for one in reading.findings if one.kind is Kind.OUT_OF_CALL_GRAPH]
        return msgspec.structs.replace(reading, status=SampleStatus.PARSER_DISAGREES, findings=kept)
    if not compiled and not seen:
        return msgspec.structs.replace(reading, status=SampleStatus.UNATTRIBUTED)
    return reading
