"""Agreement with verdicts that others recorded, down to the last difference."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.errors import InputError
from proctor.models.recorded import RecordedSamples
from proctor.records.encoding import encode
from proctor.records.receipt import Receipt
from proctor.records.task import Assertions, Benchmark, Task
from proctor.records.verdict import Bucket
from proctor.results.agreement import (
    Agreement,
    Recording,
    Recordings,
    agreement_lines,
    compare_with_recordings,
    read_recordings,
)
from proctor.storage.run_directory import RECEIPTS

TESTS = Assertions(targets=["f(1)"])
BENCHMARK = Benchmark(
    name="demo",
    tasks=[Task(task_id="a", tests=TESTS), Task(task_id="b", tests=TESTS)],
    aliases={"A": "a"},
)
Write = Callable[..., Path]


def read(write: Write, rows: list[dict[str, Any]], against: str = "passed") -> Recordings:
    return read_recordings(against, RecordedSamples(write("s.jsonl", rows)), BENCHMARK)


def test_verdicts_of_a_field(jsonl: Write) -> None:
    rows = [
        {"task_id": "a", "passed": True},
        {"task_id": "b", "passed": False, "result": "timed out"},
        {"task_id": "A", "passed": False},
    ]
    assert read(jsonl, rows) == {
        ("a", 0): Recording(True, "True"),
        ("b", 0): Recording(False, "timed out"),
        ("a", 1): Recording(False, "False"),
    }


@pytest.mark.parametrize(
    ("said", "passed"),
    [
        (True, True),
        ("passed", True),
        (" PASS\n", True),
        ("Accepted", True),
        ("AC", True),
        (False, False),
        ("fail", False),
        ("failed: AssertionError", False),
        ("timed out", False),
        ("timeout", False),
        ("assertion_fail", False),
        ("syntax_error", False),
        ("Wrong Answer", False),
    ],
)
def test_words_for_yes_and_no(jsonl: Write, said: Any, passed: bool) -> None:
    assert read(jsonl, [{"task_id": "a", "passed": said}])["a", 0].passed is passed


@pytest.mark.parametrize("said", ["maybe", "", 1, None, [True], "passable", {"x": "y" * 9999}])
def test_what_is_no_verdict(jsonl: Write, said: Any) -> None:
    with pytest.raises(InputError, match=r"s.jsonl, line 2: field passed: .* is not a verdict$"):
        read(jsonl, [{"task_id": "a", "passed": True}, {"task_id": "b", "passed": said}])


def test_neither_a_field_nor_a_file(jsonl: Write) -> None:
    said = r"line 1: field nope.jsonl, which --against names, is missing, and it is no file$"
    with pytest.raises(InputError, match=said):
        read(jsonl, [{"task_id": "a", "passed": True}], "nope.jsonl")


def test_a_folder_named_like_the_field_is_not_meant(alone: Path, jsonl: Write) -> None:
    Path("passed").mkdir()
    assert read(jsonl, [{"task_id": "a", "passed": True}])


def test_a_file_of_verdicts_in_the_order_of_samples(jsonl: Write) -> None:
    samples = RecordedSamples(jsonl("s.jsonl", [{"task_id": t} for t in ("a", "b", "a")]))
    rows = [
        {"task_id": "b", "is_solved": True},
        {"task_id": "a", "is_solved": False},
        {"task_id": "a", "is_solved": True},
    ]
    found = read_recordings(str(jsonl("v.jsonl", rows)), samples, BENCHMARK)
    assert {key: one.passed for key, one in found.items()} == {
        ("b", 0): True,
        ("a", 0): False,
        ("a", 1): True,
    }


def test_receipts_of_another_run_are_a_file_of_verdicts(
    jsonl: Write, receipt: Callable[..., Receipt]
) -> None:
    """They come in any order, so that their numbers count."""
    samples = RecordedSamples(jsonl("s.jsonl", [{"task_id": "a"}] * 3))
    buckets = [Bucket.PASSED, Bucket.WRONG_ANSWER, Bucket.SYNTAX]
    rows = [json.loads(encode(receipt(n, buckets[n]))) for n in (2, 0, 1)]
    found = read_recordings(str(jsonl("v.jsonl", rows)), samples, BENCHMARK)
    assert [found["a", n].passed for n in range(3)] == [True, False, False]
    with pytest.raises(InputError, match=r"v.jsonl, line 4: field sample: 2 of a has a verdict"):
        read_recordings(str(jsonl("v.jsonl", [*rows, rows[0]])), samples, BENCHMARK)


def test_a_file_of_verdicts_that_is_too_short(jsonl: Write) -> None:
    """It is said before hours of grading, not after."""
    samples = RecordedSamples(jsonl("s.jsonl", [{"task_id": "a"}, {"task_id": "a"}]))
    verdicts = jsonl("v.jsonl", [{"task_id": "a", "passed": True}])
    with pytest.raises(InputError) as caught:
        read_recordings(str(verdicts), samples, BENCHMARK)
    assert str(caught.value) == f"--against {verdicts}: no verdict on sample 1 of a"


def test_a_file_of_verdicts_without_any(jsonl: Write) -> None:
    samples = RecordedSamples(jsonl("s.jsonl", [{"task_id": "a"}]))
    with pytest.raises(InputError, match=r"v.jsonl, line 1: none of the fields passed, is_solved"):
        read_recordings(str(jsonl("v.jsonl", [{"task_id": "a"}])), samples, BENCHMARK)


def agreement(
    tmp_path: Path, receipt: Callable[..., Receipt], pairs: list[tuple[Bucket, bool]]
) -> Agreement:
    made = [encode(receipt(n, bucket)) for n, (bucket, _) in enumerate(pairs)]
    (tmp_path / RECEIPTS).write_bytes(b"".join(line + b"\n" for line in reversed(made)))
    verdicts = {("a", n): Recording(said, f"r{n}") for n, (_, said) in enumerate(pairs)}
    return compare_with_recordings(tmp_path, verdicts)


def test_the_table_and_the_differences(tmp_path: Path, receipt: Callable[..., Receipt]) -> None:
    good, bad, lost = Bucket.PASSED, Bucket.WRONG_ANSWER, Bucket.HARNESS
    pairs = [(good, True), (good, True), (good, False), (bad, True), (bad, False), (lost, True)]
    found = agreement(tmp_path, receipt, pairs)
    table = (found.both_pass, found.both_fail, found.only_theirs, found.only_ours, found.unscored)
    assert table == (2, 1, 1, 1, 1)
    assert (found.samples, found.rate) == (5, 0.6)
    assert [(one.sample, one.theirs, one.ours) for one in found.differences] == [
        (2, False, True),
        (3, True, False),
    ]
    assert found.differences[1].their_reason == "r3"
    assert found.differences[1].detail == "it is wrong_answer"
    assert msgspec.json.decode(encode(found), type=Agreement) == found


def test_as_text(tmp_path: Path, receipt: Callable[..., Receipt]) -> None:
    pairs = [(Bucket.PASSED, False)] * 3 + [(Bucket.HARNESS, True)]
    found = agreement(tmp_path, receipt, pairs)
    assert list(agreement_lines(found, 1)) == [
        "agreement 0.00 % of 3 samples",
        "                 they pass   they fail",
        "  we pass                0           3",
        "  we fail                0           0",
        "  unscored               1",
        "  a sample 0",
        "    they: fail  r0",
        "    we:   pass  passed  ",
    ]
    assert len(list(agreement_lines(found, 0))) == 5
    assert len(list(agreement_lines(found, 99))) == 5 + 3 * 3


def test_nothing_to_agree_on(tmp_path: Path, receipt: Callable[..., Receipt]) -> None:
    assert agreement(tmp_path, receipt, []).rate == 0.0


# Real verdicts of other harnesses

LDB = "recorded/ldb-humaneval/{}.jsonl.gz"
EXPECTED: dict[str, dict[str, str]] = {
    "codellama": {
        "HumanEval/8": "uses math without importing it; they had no such imports, we do",
        "HumanEval/71": "likewise",
        "HumanEval/106": "likewise",
    },
    "gpt-3.5-turbo-0613": {
        "HumanEval/38": "the test needs a helper of the prompt, which the answer left out",
        "HumanEval/50": "likewise",
    },
    "starcoder": {},
}
MBPP_EXPECTED = {
    "MBPP/73": "uses re without importing it; they had no such imports, we do",
    "MBPP/133": "right by its tests, also in plain Python",
    "MBPP/338": "does not define the function that its tests call",
    "MBPP/341": "the order of a set, which is not the same wherever the set is made",
    "MBPP/436": "their tests were mended after the verdict",
    "MBPP/448": "right by its tests, also in plain Python",
}


def head(source: Path, target: Path, rows: int) -> Path:
    """Copy the first rows of a packed file."""
    with gzip.open(source, "rt") as file:
        target.write_text("".join(islice(file, rows)))
    return target


def score(*args: object) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "proctor", "score", *map(str, args), "--json", "--preamble", "base"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)["agreement"]
    return found


def differing(found: dict[str, Any]) -> set[str]:
    return {one["task_id"] for one in found["differences"]}


def test_some_rows_of_humaneval(data: Path, alone: Path) -> None:
    samples = head(data / LDB.format("codellama"), alone / "s.jsonl", 40)
    found = score(
        "humaneval", "--data", data, "--completions", samples, "--against", "is_solved", "--partial"
    )
    assert (found["samples"], found["unscored"]) == (40, 0)
    # 1 of the 40 differs.
    assert differing(found) <= set(EXPECTED["codellama"])


def test_some_rows_of_mbpp(data: Path, alone: Path) -> None:
    folder = data / "recorded" / "ldb-mbpp"
    samples = head(folder / "gpt-3.5-turbo-0613.jsonl.gz", alone / "s.jsonl", 40)
    tests = folder / "tests.jsonl.gz"
    found = score(tests, "--completions", samples, "--against", "is_solved", "--partial")
    assert (found["samples"], found["unscored"]) == (40, 0)
    assert differing(found) <= set(MBPP_EXPECTED)


@pytest.mark.slow
@pytest.mark.parametrize("model", EXPECTED)
def test_all_of_ldb_humaneval(data: Path, alone: Path, model: str) -> None:
    samples = data / LDB.format(model)
    found = score("humaneval", "--data", data, "--completions", samples, "--against", "is_solved")
    assert (found["samples"], found["unscored"]) == (164, 0)
    assert differing(found) == set(EXPECTED[model])


@pytest.mark.slow
def test_all_of_ldb_mbpp(data: Path, alone: Path) -> None:
    folder = data / "recorded" / "ldb-mbpp"
    samples, tests = folder / "gpt-3.5-turbo-0613.jsonl.gz", folder / "tests.jsonl.gz"
    found = score(tests, "--completions", samples, "--against", "is_solved")
    assert (found["samples"], found["unscored"]) == (500, 0)
    # The order of a set is the candidate's luck, not ours to promise.
    assert differing(found) | {"MBPP/341"} == set(MBPP_EXPECTED)


@pytest.mark.slow
def test_all_of_agentcoder(data: Path, alone: Path) -> None:
    samples = data / "recorded/agentcoder-mbpp/zero_shot_gpt-3.5-turbo_0_mbpp.json.gz"
    # Their programs end with the tests, which then run twice; MBPP/123 takes 9 s over it.
    options = ("--solution-field", "full_code", "--against", "passed", "--partial")
    options += ("--timeout", "30")
    found = score("mbpp-sanitized", "--data", data, "--completions", samples, *options)
    assert (found["samples"], found["unscored"]) == (257, 0)
    assert differing(found) == set()
