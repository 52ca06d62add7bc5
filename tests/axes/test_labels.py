"""The axes against answers whose findings are known, one library after the other."""

from itertools import groupby

import pytest

from proctor.axes.finding import Finding, Kind, Reading, Status, checked
from proctor.judge import Judge
from proctor.program import verbatim
from tests.axes.conftest import LIBRARIES, labelled, suite

ALL = [one for library in LIBRARIES for one in labelled(library)]


def named(findings: list[Finding]) -> list[tuple[str, str]]:
    return sorted((str(one.kind), one.qualified) for one in findings)


def readings(parser, library: str) -> list[tuple[dict, Reading]]:
    tasks, found = suite(library), []
    for task_id, group in groupby(labelled(library), lambda one: one["task"]):
        ones, task = list(group), tasks[task_id]
        codes = [one["code"] for one in ones]
        found += zip(ones, parser.read(task.context, task.canonical_solution, codes), strict=True)
    return found


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_label_is_found_and_nothing_else(parser, library):
    for one, reading in readings(parser, library):
        crossed = checked(reading, compiled=one["compiles"])
        wanted = sorted(tuple(finding) for finding in one["findings"])
        assert (named(crossed.findings), str(crossed.status)) == (
            wanted,
            one.get("status", "ok"),
        ), (one["task"], one["name"])
        for finding in crossed.findings:
            at = one["code"].splitlines()[finding.line - 1][finding.column - 1 :]
            if finding.kind in (Kind.INVENTED_MEMBER, Kind.INVENTED_SYMBOL):
                assert at.startswith(finding.name) or '""' in finding.name, one["name"]


def test_there_is_an_answer_for_every_kind_and_for_most_statuses():
    kinds = {finding[0] for one in ALL for finding in one["findings"]}
    assert kinds == set(map(str, Kind))
    statuses = {one.get("status", "ok") for one in ALL}
    assert statuses == {Status.OK, Status.SYNTAX_ERROR, Status.UNATTRIBUTED}
    assert len(ALL) >= 50


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_the_compiler_says_what_the_labels_say(kernel, parser, library):
    tasks, judge = suite(library), Judge(kernel)
    for one in labelled(library):
        task = tasks[one["task"]]
        bucket = judge.judge(task, verbatim(task, one["code"])).verdict.bucket
        assert (bucket != "compile") is one["compiles"], one["name"]
