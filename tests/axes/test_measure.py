"""The axes of a run, from samples to a report and to pages."""

import json
import shutil

import pytest

from proctor.axes.labels import read_labels
from proctor.axes.measure import PartialReceipt
from proctor.records.verdict import Bucket
from proctor.viewer.pages import compare as compare_page
from proctor.viewer.pages import run as run_page
from proctor.viewer.pages import sample as sample_page
from proctor.viewer.runs import RunCatalog
from proctor.viewer.site import Site
from proctor.viewer.urls import Served
from tests.axes.conftest import SUITE, suite

B = Bucket


@pytest.mark.parametrize(
    ("bucket", "notes", "compiled", "correct"),
    [
        (B.PASSED, (), True, True),
        (B.WRONG_ANSWER, (), True, False),
        (B.CPU_TIME, (), True, False),
        (B.COMPILE, (), False, False),
        (B.COMPILE, ("not_linked",), True, False),
        (B.COMPILE_TIMEOUT, (), False, False),
        (B.COMPILE_RESOURCE, (), None, False),
        (B.NO_CODE, (), False, False),
        (B.HARNESS, (), None, None),
        (B.BENCHMARK, (), None, None),
    ],
)
def test_what_a_receipt_says_of_the_first_and_the_last_axis(bucket, notes, compiled, correct):
    judged = PartialReceipt("a", 0, bucket, notes)
    assert (judged.compiled, judged.correct) == (compiled, correct)


@pytest.mark.slow
def test_from_samples_to_pages(parser, proctor, jsonl, alone):
    task = suite("stock")["stock/add"]
    labels = read_labels([SUITE / "stock"])
    invents = next(one for one in labels if one.name == "fields of other shops")
    answers = [
        f"```cpp\n{task.canonical_solution}```",
        f"Here it is:\n```cpp\n{invents.code}```",
        f"```cpp\n{task.wrong_solutions[0].code}```",
        "I cannot do that.",
    ]
    rows = [{"task_id": "stock/add", "completion": one} for one in answers]
    samples = jsonl("samples.jsonl", rows)
    ran = proctor(
        "axes", SUITE / "stock", "--completions", samples, "--partial", "--json", "--out", "runs/a"
    )
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    (one,) = found["tasks"]
    assert one["task_id"] == "stock/add"
    figures = [one[axis] for axis in ("compile", "hallucination", "correctness")]
    assert figures == pytest.approx([1 / 2, 1 / 3, 1 / 4])
    assert found["excluded"] == {"no_code": 1}
    assert found["findings"] == {"invented_member": 1}
    names = [one["name"] for one in found["details"][1]["reading"]["findings"]]
    assert names == ["amount", "price"]

    again = proctor("axes", "runs/a")
    assert "stock::Item::amount" in again.out
    report = proctor("report", "runs/a")
    assert "2 keeps to its context" in report.out
    assert "Axes by task" in report.out
    shutil.copytree("runs/a", "runs/b")
    assert "4 is correct" in proctor("compare", "runs/a", "runs/b").out

    site = Site(RunCatalog(alone / "runs", None), Served())
    assert "2 keeps to its context" in run_page.render(site, "a")
    assert "2 keeps to its context" in compare_page.render(site, ["a", "b"])
    assert "stock::Item::price" in sample_page.render(site, "a", "stock/add", 1)


def test_what_is_no_run_needs_completions(proctor):
    ran = proctor("axes", "cpp-context")
    assert (ran.status, ran.complaint) == (
        2,
        "cpp-context is no run; --completions must say what to judge",
    )
