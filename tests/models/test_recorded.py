"""Samples files of every kind, and what may be wrong with them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.errors import InputError
from proctor.models.recorded import RecordedSamples
from proctor.records.completion import Completion, Sampling, StopReason
from proctor.records.encoding import encode
from proctor.records.task import Assertions, Benchmark, Task

Write = Callable[..., Path]
TESTS = Assertions(targets=["f(1)"])
BENCHMARK = Benchmark(
    name="demo",
    tasks=[Task(task_id=name, tests=TESTS) for name in ("HumanEval/0", "HumanEval/1", "MBPP/2")],
    aliases={"2": "MBPP/2"},
)


def answers(
    path: Path, field: str | None = None, benchmark: Benchmark = BENCHMARK
) -> list[Completion]:
    return list(RecordedSamples(path, field).complete(benchmark, Sampling()))


def refused(path: Path, field: str | None = None) -> str:
    with pytest.raises(InputError) as caught:
        answers(path, field)
    assert str(caught.value).isprintable()
    return str(caught.value).removeprefix(f"{path}, ")


def test_completions_and_solutions(jsonl: Write) -> None:
    path = jsonl(
        "s.jsonl",
        [
            {"task_id": "HumanEval/1", "completion": "a"},
            {"task_id": "HumanEval/0", "solution": "b"},
            {"task_id": "HumanEval/1", "completion": "c", "solution": "d"},
            {"task_id": 2, "completion": ""},
            {"task_id": "2", "completion": "e"},
        ],
    )
    said = answers(path)
    assert [(one.task_id, one.sample, one.id) for one in said] == [
        ("HumanEval/1", 0, "1_s0"),
        ("HumanEval/0", 0, "0_s0"),
        ("HumanEval/1", 1, "1_s1"),
        ("MBPP/2", 0, "2_s0"),
        ("MBPP/2", 1, "2_s1"),
    ]
    assert [(one.completion, one.whole) for one in said] == [
        ("a", False),
        ("b", True),
        ("c", False),
        ("", False),
        ("e", False),
    ]
    assert {one.model for one in said} == {"recorded:s.jsonl"}


@pytest.mark.parametrize(
    ("fields", "stop"),
    [
        ({}, StopReason.STOP),
        ({"stop": "length"}, StopReason.LENGTH),
        ({"finish_reason": "max_tokens"}, StopReason.LENGTH),
        ({"finish_reason": "stop"}, StopReason.STOP),
        ({"stop": None, "finish_reason": "length"}, StopReason.STOP),
        ({"stop": ["length"]}, StopReason.STOP),
    ],
)
def test_why_it_stopped(jsonl: Write, fields: dict[str, Any], stop: StopReason) -> None:
    (said,) = answers(jsonl("s.jsonl", [{"task_id": 2, "completion": "x", **fields}]))
    assert said.stop is stop


def test_unknown_fields_are_kept(jsonl: Write) -> None:
    row = {"task_id": 2, "solution": "x", "raw": {"é": [1, None]}, "seed": 3, "stop": "stop"}
    (said,) = answers(jsonl("s.jsonl", [row]))
    assert said.more == {"raw": {"é": [1, None]}}
    assert said.seed == 3


def test_what_we_wrote_is_read_as_it_was(jsonl: Write) -> None:
    one = Completion(
        task_id="MBPP/2",
        sample=0,
        id="2_s0",
        completion="x",
        stop=StopReason.LENGTH,
        prompt_sha256="00",
        seed=3,
        prompt_tokens=4,
        completion_tokens=5,
        seconds=0.5,
        used_gpu=False,
        more={"tok_per_sec": 9.5},
    )
    (said,) = answers(jsonl("s.jsonl", [msgspec.to_builtins(one)]))
    wanted = {"sample": 0, "id": "2_s0", "tok_per_sec": 9.5}
    assert said == msgspec.structs.replace(one, model="recorded:s.jsonl", more=wanted)


def test_what_was_not_answered_is_not_taken_for_an_answer(jsonl: Write) -> None:
    row = {"task_id": 2, "completion": "", "stop": "error", "more": {"error": "no server"}}
    (said,) = answers(jsonl("s.jsonl", [row]))
    assert said.stop is StopReason.ERROR
    assert said.more == {"error": "no server"}


def test_fields_that_only_look_like_ours_are_kept(jsonl: Write) -> None:
    (said,) = answers(jsonl("s.jsonl", [{"task_id": 2, "solution": "x", "seed": "many"}]))
    assert (said.seed, said.more) == (None, {"seed": "many"})
    (said,) = answers(jsonl("s.jsonl", [{"task_id": 2, "completion": "x"}]))
    assert b"more" not in encode(said)


def test_a_field_that_holds_programs(jsonl: Write) -> None:
    row = {"task_id": 2, "completion": "said", "full_code": "program", "solution": "other"}
    path = jsonl("s.jsonl", [row])
    (said,) = answers(path, "full_code")
    assert (said.completion, said.whole) == ("program", True)
    assert said.more == {"completion": "said", "solution": "other"}


def test_our_own_completions_are_a_samples_file(jsonl: Write, tmp_path: Path) -> None:
    """What was a whole program stays one."""
    rows = [{"task_id": 2, "completion": "a"}, {"task_id": 2, "solution": "b", "stop": "length"}]
    first = answers(jsonl("s.jsonl", rows))
    ours = tmp_path / "completions.jsonl"
    ours.write_bytes(b"".join(encode(one) + b"\n" for one in first))
    again = answers(ours)
    assert [(o.task_id, o.sample, o.completion, o.whole, o.stop) for o in again] == [
        (o.task_id, o.sample, o.completion, o.whole, o.stop) for o in first
    ]


def test_samples_of_tasks_that_were_not_asked_for(jsonl: Write) -> None:
    rows = [{"task_id": t, "completion": "x"} for t in (2, "HumanEval/0", "HumanEval/1")]
    said = answers(jsonl("s.jsonl", rows), benchmark=BENCHMARK.first(1))
    assert [one.task_id for one in said] == ["HumanEval/0"]


GOOD = {"task_id": "HumanEval/0", "completion": "x"}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"completion": "x"}, "field task_id is missing"),
        ({"task_id": "HumanEval/0"}, "there is neither a field completion nor a field solution"),
        ({"task_id": "HumanEval/9", "completion": "x"}, "task_id 'HumanEval/9' is not a task of demo"),
        ({"task_id": 9, "completion": "x"}, "task_id 9 is not a task of demo"),
        ({"task_id": None, "completion": "x"}, "field task_id must be a string, not null"),
        ({"task_id": 2.5, "completion": "x"}, "field task_id must be a string, not a number"),
        ({"task_id": ["2"], "completion": "x"}, "field task_id must be a string, not an array"),
        ({"task_id": {}, "completion": "x"}, "field task_id must be a string, not an object"),
        ({"task_id": 2, "completion": None}, "field completion must be a string, not null"),
        ({"task_id": 2, "completion": ["x"]}, "field completion must be a string, not an array"),
        ({"task_id": 2, "solution": 3}, "field solution must be a string, not a number"),
        ({"task_id": 2, "solution": True}, "field solution must be a string, not a boolean"),
        ([], "it must be an object, not an array"),
        ("text", "it must be an object, not a string"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_row(jsonl: Write, row: Any, said: str) -> None:
    assert refused(jsonl("s.jsonl", [GOOD, row, GOOD])) == f"line 2: {said}"


def test_the_named_field_must_be_there(jsonl: Write) -> None:
    """Else completions would be run in place of programs, here and there."""
    said = "line 1: field full_code, which --solution-field names, is missing"
    assert refused(jsonl("s.jsonl", [GOOD]), "full_code") == said


def test_nothing_hostile_or_long_gets_into_a_message(jsonl: Write) -> None:
    row = {"task_id": "\x1b]0;pwned\x07" + "x" * 1_000_000, "completion": "x"}
    said = refused(jsonl("s.jsonl", [row]))
    assert len(said) < 300
    assert "\\x1b]0;pwned" in said


def test_evalplus_folders(tmp_path: Path) -> None:
    for name, text in {
        "HumanEval_0/0.py": "a",
        "HumanEval_0/10.py": "c",
        "HumanEval_0/2.py": "b",
        "HumanEval_1/0.py": "d",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "HumanEval_1" / "notes.txt").write_text("no sample")
    (tmp_path / "eval_results.json").write_text("[]")
    said = answers(tmp_path)
    assert [(one.task_id, one.sample, one.completion) for one in said] == [
        ("HumanEval/0", 0, "a"),
        ("HumanEval/0", 1, "b"),
        ("HumanEval/0", 2, "c"),
        ("HumanEval/1", 0, "d"),
    ]
    assert all(one.whole for one in said)
    (tmp_path / "HumanEval_1" / "0.py").write_bytes(b"x = '\xff'")
    with pytest.raises(InputError, match=r"HumanEval_1/0.py: not UTF-8: byte 0xff"):
        answers(tmp_path)
    (tmp_path / "HumanEval_7").mkdir()
    (tmp_path / "HumanEval_7" / "0.py").touch()
    (tmp_path / "HumanEval_1" / "0.py").write_bytes(b"")
    with pytest.raises(InputError, match=r"HumanEval_7/0.py, line 1: task_id 'HumanEval/7' is not"):
        answers(tmp_path)


def test_a_folder_without_samples_has_none(tmp_path: Path) -> None:
    assert answers(tmp_path) == []


def test_real_samples(data: Path) -> None:
    from proctor.benchmarks import load

    path = data / "recorded/ldb-humaneval/starcoder.jsonl.gz"
    said = answers(path, benchmark=load("humaneval", data))
    assert len(said) == 164
    assert all(one.whole for one in said)
    assert set(said[0].more) >= {"is_solved", "test", "prompt"}
    assert json.loads(encode(said[0]))["more"]["entry_point"] == "has_close_elements"
