"""What a reading is worth, and what becomes of it beside the compiler."""

import pytest

from proctor.axes.finding import Error, Finding, Kind, Reading, Status, checked

MEMBER = Finding(kind=Kind.INVENTED_MEMBER, name="x", qualified="A::x", line=1, column=1)
OUTSIDE = Finding(kind=Kind.OUT_OF_CALL_GRAPH, name="y", qualified="y", line=1, column=1)
TYPES = Error(line=1, column=1, category="Semantic Issue")


@pytest.mark.parametrize(
    ("reading", "compiled", "status", "invented"),
    [
        (Reading(status=Status.OK), True, Status.OK, 0),
        (Reading(status=Status.OK, findings=[MEMBER]), False, Status.OK, 1),
        (Reading(status=Status.OK, findings=[MEMBER]), True, Status.PARSER_DISAGREES, 0),
        (Reading(status=Status.OK, errors=[TYPES]), True, Status.PARSER_DISAGREES, 0),
        (Reading(status=Status.OK, outside_errors=1), True, Status.PARSER_DISAGREES, 0),
        (Reading(status=Status.OK, errors=[TYPES]), False, Status.OK, 0),
        (Reading(status=Status.OK), False, Status.UNATTRIBUTED, 0),
        (Reading(status=Status.OK, findings=[OUTSIDE]), True, Status.OK, 0),
        (Reading(status=Status.OK, findings=[OUTSIDE]), False, Status.UNATTRIBUTED, 0),
        (Reading(status=Status.OK, findings=[MEMBER]), None, Status.OK, 1),
        (Reading(status=Status.PARSER_FAILED), False, Status.PARSER_FAILED, 0),
        (Reading(status=Status.SYNTAX_ERROR, errors=[TYPES]), False, Status.SYNTAX_ERROR, 0),
    ],
)
def test_the_compiler_has_the_last_word(reading, compiled, status, invented):
    crossed = checked(reading, compiled=compiled)
    assert (crossed.status, crossed.invented) == (status, invented)


def test_adherence_counts_what_was_given_against_all_that_was_reached_for():
    reading = Reading(
        status=Status.OK, findings=[MEMBER, OUTSIDE], n_in_context=6, n_out_of_context=1, n_system=9
    )
    assert reading.adherence == 6 / 8
    assert Reading(status=Status.OK, n_system=3).adherence is None
