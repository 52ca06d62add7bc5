"""What a reading is worth, and what becomes of it beside the compiler."""

import pytest

from proctor.axes.finding import Error, Finding, FindingReader, Kind, SampleStatus, check_finding

MEMBER = Finding(kind=Kind.INVENTED_MEMBER, name="x", qualified="A::x", line=1, column=1)
OUTSIDE = Finding(kind=Kind.OUT_OF_CALL_GRAPH, name="y", qualified="y", line=1, column=1)
TYPES = Error(line=1, column=1, category="Semantic Issue")


@pytest.mark.parametrize(
    ("reading", "compiled", "status", "invented"),
    [
        (FindingReader(status=SampleStatus.OK), True, SampleStatus.OK, 0),
        (FindingReader(status=SampleStatus.OK, findings=[MEMBER]), False, SampleStatus.OK, 1),
        (
            FindingReader(status=SampleStatus.OK, findings=[MEMBER]),
            True,
            SampleStatus.PARSER_DISAGREES,
            0,
        ),
        (
            FindingReader(status=SampleStatus.OK, errors=[TYPES]),
            True,
            SampleStatus.PARSER_DISAGREES,
            0,
        ),
        (
            FindingReader(status=SampleStatus.OK, outside_errors=1),
            True,
            SampleStatus.PARSER_DISAGREES,
            0,
        ),
        (FindingReader(status=SampleStatus.OK, errors=[TYPES]), False, SampleStatus.OK, 0),
        (FindingReader(status=SampleStatus.OK), False, SampleStatus.UNATTRIBUTED, 0),
        (FindingReader(status=SampleStatus.OK, findings=[OUTSIDE]), True, SampleStatus.OK, 0),
        (
            FindingReader(status=SampleStatus.OK, findings=[OUTSIDE]),
            False,
            SampleStatus.UNATTRIBUTED,
            0,
        ),
        (FindingReader(status=SampleStatus.OK, findings=[MEMBER]), None, SampleStatus.OK, 1),
        (FindingReader(status=SampleStatus.PARSER_FAILED), False, SampleStatus.PARSER_FAILED, 0),
        (
            FindingReader(status=SampleStatus.SYNTAX_ERROR, errors=[TYPES]),
            False,
            SampleStatus.SYNTAX_ERROR,
            0,
        ),
    ],
)
def test_the_compiler_has_the_last_word(reading, compiled, status, invented):
    crossed = check_finding(reading, compiled=compiled)
    assert (crossed.status, crossed.invented) == (status, invented)


def test_adherence_counts_what_was_given_against_all_that_was_reached_for():
    reading = FindingReader(
        status=SampleStatus.OK,
        findings=[MEMBER, OUTSIDE],
        n_in_context=6,
        n_out_of_context=1,
        n_system=9,
    )
    assert reading.adherence == 6 / 8
    assert FindingReader(status=SampleStatus.OK, n_system=3).adherence is None
