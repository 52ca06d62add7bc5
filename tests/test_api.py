"""Proctor from Python: one sample, a stream, a program, a whole benchmark."""

import asyncio
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.api import as_completion, as_task, default_sandbox
from proctor.completion import Completion
from proctor.errors import InputError
from proctor.run import Options
from proctor.sandbox import Exited, Limits, TimedOut
from proctor.verdict import Bucket, Outcome

TASK: dict[str, Any] = {
    "task_id": "demo/1",
    "prompt": "def add(a, b):\n",
    "entry_point": "add",
    "tests": {"kind": "assertions", "targets": ["add(1, 2) == 3"]},
    "canonical_solution": "    return a + b\n",
}
RIGHT, WRONG = "    return a + b\n", "    return a - b\n"


def test_grade() -> None:
    receipt = proctor.grade(TASK, RIGHT)
    assert (receipt.outcome, receipt.score, receipt.task_id) == (Outcome.PASS, 1.0, "demo/1")
    assert proctor.grade(as_task(TASK), WRONG).outcome is Outcome.ASSERTION_FAIL


def test_grade_takes_records_and_options() -> None:
    whole = Completion(task_id="demo/1", sample=4, id="", completion=WRONG, whole=True)
    receipt = proctor.grade(TASK, whole)
    assert (receipt.sample, receipt.bucket) == (4, Bucket.SYNTAX)
    assert proctor.grade(TASK, "x" + RIGHT, Options(extract="never")).bucket is Bucket.SYNTAX


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"task_id": 3}, "task: Expected `str`, got `int` - at `$.task_id`"),
        ({"tests": {"kind": "assertions", "targets": []}}, "task: tests.targets is empty"),
        ({"metadata": {"timeout_s": 31}}, "task: metadata.timeout_s is 31; it must be above 0 and at most 30"),
    ],
)  # fmt: skip
def test_a_task_that_is_none(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        proctor.grade({**TASK, **changes}, RIGHT)
    assert str(caught.value) == said


def test_values_that_no_file_can_have() -> None:
    """Arguments from Python may be anything plain."""
    tests = {
        "kind": "calls",
        "fn_name": "f",
        "inputs": [[(1, 2)], [{1: {2, 3}}], ["\ud800"], [2**70]],
        "outputs": [2, 1, 1, None],
    }
    code = "def f(x): return None if isinstance(x, int) else len(x)\n"
    receipt = proctor.grade({"task_id": "t", "tests": tests}, code)
    assert receipt.outcome is Outcome.PASS, receipt.tests


def test_a_stream_comes_back_in_order() -> None:
    texts = [RIGHT if n % 3 else WRONG for n in range(20)]
    receipts = list(proctor.grade_many((TASK, text) for text in texts))
    assert [one.sample for one in receipts] == list(range(20))
    assert [one.outcome is Outcome.PASS for one in receipts] == [text == RIGHT for text in texts]


def test_a_stream_may_be_endless() -> None:
    taken = []

    def stream() -> Iterator[tuple[dict[str, Any], str]]:
        for number in count():
            taken.append(number)
            yield TASK, RIGHT

    receipts = proctor.grade_many(stream(), Options(workers=2))
    for _ in range(3):
        assert next(receipts).outcome is Outcome.PASS
    receipts.close()
    assert len(taken) <= 3 + 8 * 2


def test_an_empty_stream() -> None:
    assert list(proctor.grade_many([])) == []


def test_a_bad_sample_ends_the_stream_after_those_before_it() -> None:
    receipts = proctor.grade_many([(TASK, RIGHT), (TASK, WRONG), ({"task_id": "x"}, RIGHT)])
    assert [next(receipts).outcome, next(receipts).outcome] == [
        Outcome.PASS,
        Outcome.ASSERTION_FAIL,
    ]
    with pytest.raises(InputError, match=r"task: Object missing required field `tests`"):
        next(receipts)


def test_a_caller_who_leaves_waits_for_few() -> None:
    slow = "    import time; time.sleep(0.2); return a + b\n"
    receipts = proctor.grade_many([(TASK, slow)] * 16, Options(workers=1, reuse=False))
    next(receipts)
    before = threading.active_count()
    receipts.close()
    assert threading.active_count() <= before


def test_identical_samples_only_when_asked() -> None:
    pairs = [(TASK, RIGHT)] * 3
    options = Options(workers=1, reuse=True)
    assert [one.reused_from for one in proctor.grade_many(pairs, options)] == [None, 0, 0]
    assert [one.reused_from for one in proctor.grade_many(pairs)] == [None] * 3


def test_from_many_threads() -> None:
    with ThreadPoolExecutor(4) as pool:
        receipts = list(pool.map(lambda n: proctor.grade(TASK, (WRONG, RIGHT)[n % 2]), range(12)))
    assert [one.outcome is Outcome.PASS for one in receipts] == [False, True] * 6


def test_from_asyncio() -> None:
    async def both() -> list[Any]:
        jobs = (asyncio.to_thread(proctor.grade, TASK, text) for text in (RIGHT, WRONG))
        return [one.outcome for one in await asyncio.gather(*jobs)]

    assert asyncio.run(both()) == [Outcome.PASS, Outcome.ASSERTION_FAIL]


def _grade_in_child(results: Any) -> None:
    results.put(proctor.grade(TASK, RIGHT).outcome)


def test_from_a_forked_worker() -> None:
    """It has a sandbox of its own, whatever its parent had open."""
    assert proctor.grade(TASK, RIGHT).outcome is Outcome.PASS
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=_grade_in_child, args=(results,), daemon=True)
    child.start()
    assert results.get(timeout=60) == Outcome.PASS
    child.join(60)
    assert child.exitcode == 0
    assert proctor.grade(TASK, RIGHT).outcome is Outcome.PASS


def test_a_fork_in_the_middle_does_not_hang() -> None:
    """The lock may be held by a thread that the child does not have."""
    from proctor import api

    held, go = threading.Event(), threading.Event()

    def hold() -> None:
        with api._process.lock:
            held.set()
            go.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(30)
    pid = os.fork()
    if pid == 0:
        os._exit(17 if api._process.lock.acquire(timeout=5) else 1)
    go.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 17


def test_one_sandbox_a_process() -> None:
    assert default_sandbox() is default_sandbox()


# execute


def test_execute() -> None:
    code = "import sys\nprint(input(), sys.argv[1:])\nsys.exit(3)"
    execution = proctor.execute(code, "hello\n", args=("a", "b"))
    assert (execution.ending, execution.stdout) == (Exited(3), b"hello ['a', 'b']\n")


def test_execute_has_a_clock() -> None:
    ending = proctor.execute("while True: pass", timeout_s=0.3).ending
    assert isinstance(ending, TimedOut)
    limits = Limits(cpu_seconds=0.3, wall_seconds=0.3)
    assert isinstance(proctor.execute("while True: pass", limits=limits).ending, TimedOut)


@pytest.mark.parametrize("seconds", [0, -3, float("nan"), float("inf")])
def test_execute_refuses_nonsense(seconds: float) -> None:
    with pytest.raises(InputError, match="it must be a number of seconds above 0"):
        proctor.execute("pass", timeout_s=seconds)


def test_as_completion() -> None:
    task = as_task(TASK)
    said = as_completion(task, "x", 3)
    assert (said.task_id, said.sample, said.id, said.completion) == ("demo/1", 3, "0_s3", "x")
    assert as_completion(task, said) is said


# evaluate


def test_evaluate(alone: Path, jsonl: Callable[..., Path]) -> None:
    tasks = jsonl("tasks.jsonl", [TASK, {**TASK, "task_id": "demo/2"}])
    summary = proctor.evaluate(str(tasks), out=alone / "run")
    assert (summary.benchmark, summary.passed, summary.samples) == ("tasks", 2, 2)
    assert (alone / "run" / "report.json").exists()


def test_evaluate_recorded_completions(alone: Path, jsonl: Callable[..., Path]) -> None:
    tasks = jsonl("tasks.jsonl", [TASK, {**TASK, "task_id": "demo/2"}])
    rows = [{"task_id": "demo/1", "completion": text} for text in (RIGHT, WRONG)]
    samples = jsonl("s.jsonl", rows)
    with pytest.raises(InputError, match="no completion for 1 of 2 tasks"):
        proctor.evaluate(str(tasks), completions=samples)
    given: dict[str, Any] = {"completions": samples, "partial": True, "out": "run"}
    summary = proctor.evaluate(str(tasks), **given, ks=[2])
    assert summary.pass_at_k["2"].value == 1.0
    with pytest.raises(InputError, match="belongs to another run: its preamble"):
        proctor.evaluate(str(tasks), **given, options=Options(preamble="base"))
    fresh = proctor.evaluate(str(tasks), **given, options=Options(preamble="base"), fresh=True)
    assert fresh.passed == 1
