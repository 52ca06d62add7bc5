"""A stream of samples is graded by an engine, in any order, each once."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest

from proctor.grading.engine import JudgeRequest
from proctor.grading.grade import Grader
from proctor.grading.pipeline import grade_all
from proctor.grading.prepare import Options
from proctor.judge.judgement import Judgement
from proctor.records.completion import Completion, StopReason
from proctor.records.execution import Enforcement
from proctor.records.task import Assertions, Benchmark, Task
from proctor.records.verdict import Passed, Unscored

DOUBLE = Task(
    task_id="double",
    prompt="def double(x):\n",
    entry_point="double",
    tests=Assertions(targets=["double(1) == 2", "double(4) == 8"]),
)


def said(text: str, sample: int = 0, task_id: str = "double", **more: Any) -> Completion:
    return Completion(task_id=task_id, sample=sample, id="", completion=text, **more)


class Paced:
    """An engine that takes as long for a program as its text says, on so many threads."""

    def __init__(self, workers: int) -> None:
        self.max_in_flight = 2 * workers
        self.begun: list[str] = []
        self._pool = ThreadPoolExecutor(workers)
        self.rests = 0

    def enforcement(self) -> Enforcement:
        return Enforcement(tier="portable", isolated=False, walls={}, clock="wall", toolchains={})

    def require_language(self, language: str) -> str:
        return language

    def judge(self, question: JudgeRequest) -> Judgement:
        self.begun.append(question.program.source)
        time.sleep(float(question.program.source.split()[0]))
        failed = "fails" in question.program.source
        verdict = Unscored(reason="it fails") if failed else Passed(tests=())
        return Judgement(verdict=verdict, host="elsewhere", toolchain="toolchain")

    def submit(self, question: JudgeRequest) -> Future[Judgement]:
        return self._pool.submit(self.judge, question)

    def shutdown(self, *, wait: bool) -> None:
        self.rests += 1
        self._pool.shutdown(wait=wait, cancel_futures=True)

    def close(self) -> None:
        pass


BENCHMARK = Benchmark(name="b", tasks=[DOUBLE])


def paced(workers: int, *, reuse: bool = False) -> tuple[Paced, Grader]:
    engine = Paced(workers)
    return engine, Grader(engine, Options(reuse=reuse, workers=1))


def answers(seconds: float, *texts: object) -> Iterator[Completion]:
    return (said(f"{seconds} # {text}", n, whole=True) for n, text in enumerate(texts))


def test_every_sample_comes_once_and_says_where_it_was_judged() -> None:
    engine, grader = paced(3)
    receipts = list(grade_all(grader, BENCHMARK, answers(0, *range(50))))
    assert sorted(one.sample for one in receipts) == list(range(50))
    assert {(one.host, one.toolchain) for one in receipts} == {("elsewhere", "toolchain")}
    assert engine.rests == 1


def test_few_are_taken_ahead() -> None:
    taken: list[int] = []

    def stream() -> Iterator[Completion]:
        for number in count():
            taken.append(number)
            yield said("0.001", number, whole=True)

    receipts = grade_all(paced(2)[1], BENCHMARK, stream())
    for _ in range(20):
        next(receipts)
    assert len(taken) <= 20 + 2 * 2 + 2
    receipts.close()


def test_who_stops_listening_gets_no_new_ones() -> None:
    engine, grader = paced(2)
    receipts = grade_all(grader, BENCHMARK, answers(0.05, *range(100)))
    next(receipts)
    receipts.close()
    begun = len(engine.begun)
    assert begun <= 5
    time.sleep(0.2)
    assert len(engine.begun) == begun


def test_stop_finishes_what_runs_and_yields_it() -> None:
    engine, grader = paced(2)
    stop = threading.Event()
    done = []
    for one in grade_all(grader, BENCHMARK, answers(0.05, *range(100)), stop):
        done.append(one.sample)
        if len(done) == 3:
            stop.set()
    assert sorted(done) == sorted(int(text.split()[2]) for text in engine.begun)
    assert 3 <= len(done) <= 7


def test_a_defect_in_a_thread_comes_out() -> None:
    with pytest.raises(ValueError, match="could not convert"):
        list(grade_all(paced(2)[1], BENCHMARK, (said(f"x{n}", n, whole=True) for n in range(10))))


@pytest.mark.parametrize("workers", [1, 4, 16])
def test_of_identical_programs_the_first_is_run(workers: int) -> None:
    engine, grader = paced(workers, reuse=True)
    texts = [("a", "b", "a", "c")[n % 4] for n in range(64)]
    receipts = {one.sample: one for one in grade_all(grader, BENCHMARK, answers(0, *texts))}
    assert len(receipts) == 64
    assert sorted(text.split()[2] for text in engine.begun) == ["a", "b", "c"]
    first = {"a": 0, "b": 1, "c": 3}
    for sample, text in enumerate(texts):
        reused = None if sample == first[text] else first[text]
        assert receipts[sample].reused_from == reused


def test_what_failed_on_our_side_is_tried_by_each_that_has_the_same_program() -> None:
    engine, grader = paced(2, reuse=True)
    receipts = list(grade_all(grader, BENCHMARK, answers(0.01, *["fails"] * 5)))
    assert sorted(one.sample for one in receipts) == list(range(5))
    assert {one.outcome for one in receipts} == {None}
    assert {one.reused_from for one in receipts} == {None}
    assert len(engine.begun) == 5


def test_samples_without_a_program_need_no_engine() -> None:
    engine, grader = paced(1)
    stream = (said("", n, stop=StopReason.ERROR) for n in range(9))
    assert [one.sample for one in grade_all(grader, BENCHMARK, stream)] == list(range(9))
    assert engine.begun == []
