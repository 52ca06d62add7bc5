"""The flow from completion to receipt, on real processes and on a sandbox that fails."""

import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NoReturn

import msgspec
import pytest

from proctor.completion import Completion, StopReason
from proctor.errors import HostError, SandboxError
from proctor.judge import Rules
from proctor.receipt import Receipt
from proctor.run import Grader, Options, Seen, grade_all
from proctor.sandbox import Enforcement, Execution, Sandbox, SandboxFailed
from proctor.sandbox.drop import Dropped
from proctor.task import Assertions, Benchmark, CallCases, Task
from proctor.verdict import Bucket, Outcome

DOUBLE = Task(
    task_id="double",
    prompt="def double(x):\n",
    entry_point="double",
    tests=Assertions(targets=["double(1) == 2", "double(4) == 8"]),
)
RIGHT, WRONG = "    return 2 * x\n", "    return 3 * x\n"


def said(text: str, sample: int = 0, task_id: str = "double", **more: Any) -> Completion:
    return Completion(task_id=task_id, sample=sample, id="", completion=text, **more)


class Broken:
    """A sandbox in which nothing ever starts."""

    def __init__(self) -> None:
        self.tried = 0

    def enforcement(self) -> Enforcement:
        return Enforcement(tier="portable", isolated=False, walls={}, clock="wall", toolchains={})

    def _fail(self, *_: object, **__: object) -> NoReturn:
        self.tried += 1
        raise SandboxError("nothing starts here")

    open = repeat = exchange = session = _fail

    def run(self, *_: object, **__: object) -> Execution:
        return Execution(ending=SandboxFailed("nothing starts here"))

    def close(self) -> None:
        pass


class Counting:
    """A real sandbox that counts how many candidates it was asked for."""

    def __init__(self, real: Sandbox) -> None:
        self._real = real
        self.candidates = 0

    def open(self, role: Any, limits: Any) -> Any:
        self.candidates += role == "candidate"
        return self._real.open(role, limits)

    def exchange(self, requests: Any, limits: Any, role: Any = "candidate") -> Any:
        self.candidates += 1
        return self._real.exchange(requests, limits, role)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def test_a_right_and_a_wrong_sample(sandbox: Sandbox, nothing_left: None) -> None:
    grader = Grader(sandbox, Options())
    right, wrong = grader.grade(DOUBLE, said(RIGHT)), grader.grade(DOUBLE, said(WRONG, 1))
    assert (right.outcome, right.score, right.sample) == (Outcome.PASS, 1.0, 0)
    assert (wrong.outcome, wrong.bucket) == (Outcome.ASSERTION_FAIL, Bucket.WRONG_ANSWER)
    assert (wrong.sample, wrong.score, len(wrong.tests)) == (1, 0.0, 2)
    assert wrong.tests[1].expected == "8"
    assert wrong.tests[1].got == "12"
    assert right.sandbox == sandbox.enforcement().tier


def test_no_code_is_an_error_of_the_model(sandbox: Sandbox) -> None:
    receipt = Grader(sandbox, Options()).grade(DOUBLE, said("```python\n", stop=StopReason.LENGTH))
    assert (receipt.outcome, receipt.bucket) == (Outcome.ERROR, Bucket.NO_CODE)
    assert receipt.extraction["rule"] == "none"
    assert (receipt.program_sha256, receipt.code, receipt.score) == (None, "", 0.0)


@pytest.mark.parametrize(
    ("options", "text", "whole", "bucket"),
    [
        (Options(), "```python\ndef double(x): return 2 * x\n```", False, Bucket.PASSED),
        (Options(extract="never"), RIGHT, False, Bucket.PASSED),
        (Options(extract="never"), f"```\n{RIGHT}```", False, Bucket.SYNTAX),
        (Options(), "def double(x): return 2 * x", True, Bucket.PASSED),
        (Options(), "```\ndef double(x): return 2 * x\n```", True, Bucket.SYNTAX),
        (Options(), "def double(x): return math.prod([2, x])", True, Bucket.TEST_EXCEPTION),
        (
            Options(preamble="base"),
            "def double(x): return math.prod([2, x])",
            True,
            Bucket.PASSED,
        ),
    ],
)
def test_how_text_becomes_a_program(
    sandbox: Sandbox, options: Options, text: str, whole: bool, bucket: Bucket
) -> None:
    receipt = Grader(sandbox, options).grade(DOUBLE, said(text, whole=whole))
    assert receipt.bucket is bucket, receipt.detail
    verbatim = whole or options.extract == "never"
    assert (receipt.extraction["rule"] == "verbatim") is verbatim


def test_half_a_surrogate_pair_is_the_models_mistake(sandbox: Sandbox) -> None:
    receipt = Grader(sandbox, Options()).grade(DOUBLE, said("x = '\ud83d", whole=True))
    assert receipt.outcome is Outcome.SYNTAX_ERROR


def test_identical_programs_are_run_once(sandbox: Sandbox) -> None:
    counting = Counting(sandbox)
    grader = Grader(counting, Options())
    fenced = f"```python\ndef double(x):\n{RIGHT}```"
    texts = [RIGHT, WRONG, RIGHT, f"{RIGHT}", WRONG, fenced, fenced]
    receipts = [grader.grade(DOUBLE, said(text, n)) for n, text in enumerate(texts)]
    assert [one.reused_from for one in receipts] == [None, None, 0, 0, 1, 0, 0]
    assert [one.sample for one in receipts] == list(range(7))
    assert [one.outcome for one in receipts] == [
        Outcome.PASS if "2 * x" in text else Outcome.ASSERTION_FAIL for text in texts
    ]
    assert counting.candidates == 2
    assert receipts[5].program_sha256 == receipts[0].program_sha256
    assert receipts[5].extraction != receipts[0].extraction, "how it was found is its own"
    for text, one in zip(texts, receipts, strict=True):
        assert one.completion_sha256 == said(text).sha256
        assert one.code.strip() in text


def test_no_reuse_runs_them_all(sandbox: Sandbox) -> None:
    counting = Counting(sandbox)
    grader = Grader(counting, Options(reuse=False))
    receipts = [grader.grade(DOUBLE, said(RIGHT, n)) for n in range(3)]
    assert [one.reused_from for one in receipts] == [None] * 3
    assert counting.candidates == 3


def test_the_same_program_of_another_task_is_run(sandbox: Sandbox) -> None:
    """Also of one that only has the same id."""
    triple = msgspec.structs.replace(DOUBLE, tests=Assertions(targets=["double(1) == 3"]))
    grader = Grader(sandbox, Options())
    assert grader.grade(DOUBLE, said(RIGHT)).outcome is Outcome.PASS
    other = grader.grade(triple, said(RIGHT, 1))
    assert (other.outcome, other.reused_from) == (Outcome.ASSERTION_FAIL, None)


def test_what_fails_on_our_side_is_never_wrong(receipt: Callable[..., Receipt]) -> None:
    broken = Broken()
    grader = Grader(broken, Options())
    for sample in range(3):
        one = grader.grade(DOUBLE, said(RIGHT, sample))
        assert (one.outcome, one.bucket, one.score) == (None, Bucket.HARNESS, None)
        assert one.detail == "nothing starts here"
        assert one.reused_from is None, "an unscored sample says nothing about another"
    assert broken.tried >= 6, "each was tried again and a known-good program, too"


@pytest.mark.parametrize(
    "tests",
    [
        Assertions(targets=["abs(double(1)) == 2"]),
        CallCases(fn_name="double", inputs=[[1]], outputs=[2]),
    ],
)
def test_no_kind_of_test_blames_the_candidate_for_it(tests: Any) -> None:
    task = msgspec.structs.replace(DOUBLE, tests=tests)
    one = Grader(Broken(), Options()).grade(task, said(RIGHT))
    assert (one.outcome, one.bucket) == (None, Bucket.HARNESS)


def test_rules_reach_the_judge(sandbox: Sandbox) -> None:
    stopped = Grader(sandbox, Options(rules=Rules(early_stop=True))).grade(DOUBLE, said(WRONG))
    assert len(stopped.tests) == 1


# Seen


def test_seen_waits_for_the_first(receipt: Callable[..., Receipt]) -> None:
    seen, begun, go = Seen(), threading.Event(), threading.Event()
    results: list[tuple[Receipt, bool]] = []

    def slow() -> Receipt:
        begun.set()
        assert go.wait(10)
        return receipt(0)

    def never() -> Receipt:
        raise AssertionError

    first = threading.Thread(target=lambda: results.append(seen.once(("t", "p"), slow)))
    second = threading.Thread(target=lambda: results.append(seen.once(("t", "p"), never)))
    first.start()
    assert begun.wait(10)
    second.start()
    go.set()
    first.join()
    second.join()
    assert sorted(own for _, own in results) == [False, True]
    assert {one.sample for one, _ in results} == {0}


def test_seen_passes_a_defect_on(receipt: Callable[..., Receipt]) -> None:
    seen = Seen()

    def defect() -> Receipt:
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            seen.once(("t", "p"), defect)


def test_seen_tries_unscored_ones_again(receipt: Callable[..., Receipt]) -> None:
    seen, number = Seen(), count()

    def run() -> Receipt:
        return receipt(next(number), Bucket.HARNESS)

    assert [seen.once(("t", "p"), run)[0].sample for _ in range(3)] == [0, 1, 2]


def test_seen_forgets(receipt: Callable[..., Receipt], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.run.REMEMBERED", 10)
    seen = Seen()
    for number in range(100):
        seen.once(("t", str(number)), lambda: receipt(0))
    assert len(seen._receipts) == 10


def test_seen_recalls_what_is_written_down(receipt: Callable[..., Receipt]) -> None:
    """Only the place is kept; what cannot be read any more, or is of another program, is run."""
    written = {
        place: receipt(place, task_sha256="t", program_sha256=f"p{place}") for place in range(9)
    }
    seen = Seen(written.get)
    for place, one in written.items():
        assert seen.once(("t", f"p{place}"), lambda one=one: one) == (one, True)
        seen.wrote(("t", f"p{place}"), place)
    assert not seen._receipts
    for place, one in written.items():
        assert seen.once(("t", f"p{place}"), unused) == (one, False)
    other = receipt(100)
    del written[3]
    written[4] = other
    for place in (3, 4):
        assert seen.once(("t", f"p{place}"), lambda: other) == (other, True)


def unused() -> Receipt:
    raise AssertionError


def test_seen_does_not_keep_an_error(receipt: Callable[..., Receipt]) -> None:
    """A host that gave out may have recovered."""
    seen = Seen()

    def full() -> Receipt:
        raise HostError("no room")

    with pytest.raises(HostError):
        seen.once(("t", "p"), full)
    assert seen.once(("t", "p"), lambda: receipt(1))[1]


def test_seen_does_not_drop_who_waits_for_somebody_dropped(
    receipt: Callable[..., Receipt],
) -> None:
    seen, begun, go = Seen(), threading.Event(), threading.Event()
    results: list[bool] = []

    def dropped() -> Receipt:
        begun.set()
        assert go.wait(10)
        raise Dropped

    def leave() -> None:
        with pytest.raises(Dropped):
            seen.once(("t", "p"), dropped)

    first = threading.Thread(target=leave)
    first.start()
    assert begun.wait(10)
    second = threading.Thread(
        target=lambda: results.append(seen.once(("t", "p"), lambda: receipt(1))[1])
    )
    second.start()
    go.set()
    first.join()
    second.join()
    assert results == [True]


# grade_all


class Paced:
    """A grader whose samples take as long as their text says."""

    def __init__(self, receipt: Callable[..., Receipt]) -> None:
        self._receipt = receipt
        self.begun: list[int] = []

    def grade(self, task: Task, completion: Completion) -> Receipt:
        self.begun.append(completion.sample)
        time.sleep(float(completion.completion))
        return self._receipt(completion.sample)


BENCHMARK = Benchmark(name="b", tasks=[DOUBLE])


def test_every_sample_comes_once(receipt: Callable[..., Receipt]) -> None:
    grader: Any = Paced(receipt)
    stream = (said("0", n) for n in range(50))
    receipts = list(grade_all(grader, BENCHMARK, stream, 3))
    assert sorted(one.sample for one in receipts) == list(range(50))


def test_few_are_taken_ahead(receipt: Callable[..., Receipt]) -> None:
    taken: list[int] = []

    def stream() -> Iterator[Completion]:
        for number in count():
            taken.append(number)
            yield said("0.001", number)

    receipts = grade_all(Paced(receipt), BENCHMARK, stream(), 2)  # type: ignore[arg-type]
    for _ in range(20):
        next(receipts)
    assert len(taken) <= 20 + 2 * 2 + 2
    receipts.close()


def test_who_stops_listening_gets_no_new_ones(receipt: Callable[..., Receipt]) -> None:
    grader: Any = Paced(receipt)
    receipts = grade_all(grader, BENCHMARK, (said("0.05", n) for n in range(100)), 2)
    next(receipts)
    receipts.close()
    begun = len(grader.begun)
    assert begun <= 5
    time.sleep(0.2)
    assert len(grader.begun) == begun


def test_stop_finishes_what_runs_and_yields_it(receipt: Callable[..., Receipt]) -> None:
    grader: Any = Paced(receipt)
    stop = threading.Event()
    done = []
    for one in grade_all(grader, BENCHMARK, (said("0.05", n) for n in range(100)), 2, stop):
        done.append(one.sample)
        if len(done) == 3:
            stop.set()
    assert sorted(done) == sorted(grader.begun)
    assert 3 <= len(done) <= 7


def test_a_defect_in_a_thread_comes_out(receipt: Callable[..., Receipt]) -> None:
    grader: Any = Paced(receipt)
    with pytest.raises(ValueError, match="could not convert"):
        list(grade_all(grader, BENCHMARK, (said("x", n) for n in range(10)), 2))
