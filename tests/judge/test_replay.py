"""What is examined after a rehearsal is judged as it would be live."""

from collections import Counter
from textwrap import dedent

import pytest

from proctor.judge import Judge, Rules
from proctor.program import Program
from proctor.sandbox import Limits
from proctor.task import Assertions, CheckFunction, Metadata, Task
from proctor.verdict import Passed

LIMITS = Limits(cpu_seconds=2.0, wall_seconds=2.0)
GOOD = "def f(x):\n    return 2 * x\n"


class Counting:
    """A sandbox that counts how it is used."""

    def __init__(self, real):
        self._real = real
        self.used = Counter()

    def open(self, role, *args, **kwargs):
        self.used["live"] += role == "examiner"
        return self._real.open(role, *args, **kwargs)

    def exchange(self, requests, limits, role="candidate"):
        self.used["replayed"] += role == "examiner"
        return self._real.exchange(requests, limits, role)

    def __getattr__(self, name):
        return getattr(self._real, name)


@pytest.fixture
def counting(sandbox):
    return Counting(sandbox)


def check(body, **metadata):
    code = "def check(candidate):\n" + dedent(body).replace("\n", "\n    ").rstrip()
    code = code.replace("check(candidate):\n", "check(candidate):\n    ", 1)
    return Task(
        task_id="t",
        entry_point="f",
        tests=CheckFunction(code=code + "\n"),
        metadata=Metadata(**metadata),
        limits=LIMITS,
    )


LOOP = check(
    """
    for x in range(5):
        assert candidate(x) == 2 * x
    assert abs(candidate(0.5) - 1) < 1e-6
    """
)


def judged(judge, task, source):
    return judge.judge(task, Program(source=dedent(source)))


def alike(one, other):
    """All but times and memory."""
    assert one.verdict.bucket is other.verdict.bucket
    assert one.judged == other.judged
    assert one.findings.notes == other.findings.notes
    for mine, theirs in zip(one.findings.tests, other.findings.tests, strict=True):
        assert (mine.passed, mine.bucket, mine.detail) == (
            theirs.passed,
            theirs.bucket,
            theirs.detail,
        )
        assert (mine.expected, mine.got) == (theirs.expected, theirs.got)


PROGRAMS = {
    "right": GOOD,
    "wrong": "def f(x):\n    return 2 * x if x else 1\n",
    "raises": "def f(x):\n    return 1 / x\n",
    "raises its own": "class Odd(ValueError): pass\ndef f(x):\n    raise Odd(x)\n",
    "dies in the middle": "import os\ndef f(x):\n    return 2 * x if x < 3 else os._exit(0)\n",
    "leaves in the middle": "def f(x):\n    return 2 * x if x < 3 else exit()\n",
    "loops in the middle": "def f(x):\n    while x == 3: pass\n    return 2 * x\n",
    "does not load": "1 / 0\n",
    "does not parse": "def f(x) return 2 * x\n",
    "has no such function": "def g(x):\n    return 2 * x\n",
    "floods": "def f(x):\n    print('x' * 2_000_000)\n    return 2 * x\n",
    "returns an object": "class A:\n    def __eq__(s, o): return True\ndef f(x):\n    return A()\n",
    "remembers": "seen = []\ndef f(x):\n    seen.append(x)\n    return 2 * x * len(seen[:1])\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_replay_says_what_a_live_examination_says(counting, name):
    live = judged(Judge(counting), LOOP, PROGRAMS[name])
    judge = Judge(counting)
    assert judged(judge, LOOP, GOOD).verdict.bucket == "passed"
    before = counting.used["replayed"]
    alike(judged(judge, LOOP, PROGRAMS[name]), live)
    assert counting.used["replayed"] == before + (not name.startswith("does not"))


def test_a_test_that_asks_by_what_was_answered_is_examined_live(counting):
    task = check("x = candidate(1)\nassert candidate(x) == 2 * x\nassert x == 2")
    judge = Judge(counting)
    assert judged(judge, task, GOOD).verdict.bucket == "passed"
    assert judged(judge, task, "def f(x):\n    return 3 * x\n").verdict.bucket == "wrong_answer"
    assert counting.used == {"live": 2, "replayed": 1}


def test_a_test_that_asks_everybody_something_else_is_not_replayed_for_ever(counting):
    task = check("x = candidate(1)\nassert candidate(x) > 0")
    judge = Judge(counting)
    for number in range(10):
        source = f"def f(x):\n    return {number} + x\n"
        assert judged(judge, task, source).verdict.bucket == "passed"
    assert counting.used == {"live": 10, "replayed": 3}


def test_a_first_sample_that_was_cut_short_teaches_only_its_part(counting):
    task = check(
        "x = candidate(0)\nif x:\n    raise ValueError(x)\nassert candidate(1) == 2\nassert abs(x) == 0"
    )
    judge = Judge(counting)
    assert judged(judge, task, "def f(x):\n    return 7\n").verdict.bucket != "passed"
    assert judged(judge, task, GOOD).verdict.bucket == "passed"
    assert judged(judge, task, GOOD).verdict.bucket == "passed"
    assert counting.used["live"] == 2


def test_what_a_test_would_not_have_asked_harms_nobody(counting):
    task = check("x = candidate(0)\nif x:\n    raise ValueError(x)\nassert candidate(1) == 2")
    judge = Judge(counting)
    assert judged(judge, task, GOOD).verdict.bucket == "passed"
    source = "import os\ndef f(x):\n    return 7 if not x else os.abort()\n"
    verdict = judged(judge, task, source).verdict
    assert (verdict.bucket, verdict.detail) == ("wrong_answer", "ValueError: 7")


def test_functions_of_the_test_are_called_back_live(counting):
    task = check("assert candidate(lambda: 3) == 3\nassert abs(candidate(lambda: 4)) == 4")
    judge = Judge(counting)
    for _ in range(3):
        assert judged(judge, task, "def f(g):\n    return g()\n").verdict.bucket == "passed"
    assert counting.used == {"live": 3}


def test_objects_are_replayed_where_they_are_asked_the_same(counting):
    task = check("box = candidate(3)\nassert box.size == 3\nassert [x for x in box] == [0, 1, 2]")
    source = """
        class Box:
            def __init__(self, size): self.size = size
            def __iter__(self): return iter(range(self.size))
        f = Box
    """
    judge = Judge(counting)
    for _ in range(3):
        assert judged(judge, task, source).verdict.bucket == "passed"
    assert counting.used == {"live": 1, "replayed": 1}
    lying = source.replace("range(self.size)", "range(2)")
    assert judged(judge, task, lying).verdict.bucket == "wrong_answer"
    longer = source.replace("range(self.size)", "range(self.size + 1)")
    assert judged(judge, task, longer).verdict.bucket == "wrong_answer"
    assert counting.used == {"live": 2, "replayed": 3}  # live first, and where it asks for more


@pytest.mark.parametrize("how", ["rule", "task"])
def test_one_at_a_time_is_never_ahead(counting, how):
    task = check("assert abs(candidate(1)) == 2", one_at_a_time=how == "task")
    judge = Judge(counting, Rules(one_at_a_time=how == "rule"))
    for _ in range(3):
        assert judged(judge, task, GOOD).verdict.bucket == "passed"
    assert counting.used == {"live": 3}


def test_a_check_without_asserts_fails_for_a_program_that_does_not_load(sandbox):
    task = check("candidate(1)")
    judge = Judge(sandbox)
    for source in (GOOD, "1 / 0", GOOD, "1 / 0"):
        bucket = "passed" if source == GOOD else "load_exception"
        assert judged(judge, task, source).verdict.bucket == bucket


def test_assertions_are_replayed_too(counting):
    tests = Assertions(targets=["abs(f(1)) == 2", "f(2) == 4"])
    task = Task(task_id="t", entry_point="f", tests=tests, limits=LIMITS)
    judge = Judge(counting)
    for _ in range(3):
        assert judged(judge, task, GOOD).verdict.bucket == "passed"
    assert counting.used == {"live": 1, "replayed": 1}


def test_answers_that_passed_are_not_examined_again(counting):
    judge = Judge(counting)
    first, second, third = (judged(judge, LOOP, GOOD) for _ in range(3))
    assert counting.used == {"live": 1, "replayed": 1}
    alike(first, second)
    alike(second, third)
    wrong = "def f(x):\n    return 2 * x if x < 4 else 9\n"
    for _ in range(2):
        assert judged(judge, LOOP, wrong).verdict.bucket == "wrong_answer"
    assert counting.used == {"live": 1, "replayed": 3}
    assert judged(judge, LOOP, GOOD).verdict.bucket == "passed"
    assert counting.used == {"live": 1, "replayed": 3}


def test_right_answers_do_not_excuse_a_bad_end(counting):
    dies_in_the_end = """
        import os, sys
        class Out:
            def flush(self): os.abort()
        sys.stdout = Out()
        def f(x): return 2 * x
    """
    judge = Judge(counting)
    for _ in range(3):
        assert judged(judge, LOOP, GOOD).verdict.bucket == "passed"
    live = judged(Judge(counting), LOOP, dies_in_the_end)
    before = counting.used["replayed"]
    alike(judged(judge, LOOP, dies_in_the_end), live)
    assert counting.used["replayed"] == before + 1


def test_a_test_may_hold_texts_that_look_like_many_values(sandbox):
    """It was taken for more than may cross, and the candidate for one that ends its examiner."""
    text = "," * 2_500_000
    code = f"def check(f):\n    for _ in range(2):\n        assert f({text!r}) == {len(text)}\n"
    task = Task(
        task_id="t",
        entry_point="f",
        tests=CheckFunction(code=code),
        limits=Limits().with_seconds(20),
    )
    program = Program(source="def f(x):\n    return len(x)\n")
    assert isinstance(Judge(sandbox).judge(task, program).verdict, Passed)
