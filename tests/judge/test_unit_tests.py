"""Unit tests in one process with the candidate: counted, tokened, doubted."""

import pytest

from proctor.judge.judge import Judge
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import Task, UnitTests
from proctor.records.verdict import Bucket, Failed, Passed, Unscored

REFERENCE = "import os\n\ndef f(x):\n    return os.path.join('a', str(x))\n"
TESTS = """
import unittest
from unittest.mock import patch


class TestCases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ready = True

    def setUp(self):
        self.value = 3

    def test_plain(self):
        self.assertEqual(f(self.value), 'a/3')

    def test_patched(self):
        with patch('os.path.join', return_value='patched'):
            self.assertEqual(f(1), 'patched')

    def test_subtests(self):
        for n in (1, 2):
            with self.subTest(n=n):
                self.assertTrue(f(n).endswith(str(n)))
"""


def judged(sandbox, source, code=TESTS, reference=REFERENCE, seconds=5.0):
    task = Task(
        task_id="t",
        entry_point="f",
        tests=UnitTests(code=code),
        canonical_solution=reference,
        limits=Limits().with_seconds(seconds),
    )
    return Judge(sandbox).judge(task, Program(source=source))


def test_every_test_has_its_result(sandbox):
    right = judged(sandbox, REFERENCE)
    assert isinstance(right.verdict, Passed)
    assert right.judged == "together"
    assert len(right.verdict.tests) == 3
    wrong = judged(sandbox, "import os\ndef f(x):\n    return 'a/3'\n")
    assert [test.passed for test in wrong.verdict.tests] == [True, False, False]
    assert wrong.verdict.bucket is Bucket.WRONG_ANSWER


def test_exceptions_of_the_candidate_are_told_from_failed_assertions(sandbox):
    verdict = judged(sandbox, "def f(x):\n    raise ValueError('no')\n").verdict
    assert verdict.bucket is Bucket.TEST_EXCEPTION
    assert "ValueError: no (line 2)" in verdict.detail


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("skips", "import unittest\ndef f(x):\n    raise unittest.SkipTest('no')\n"),
        (
            "patches assertEqual",
            "import unittest\nfor n in ('assertEqual', 'assertTrue'):\n    setattr(unittest.TestCase, n, lambda *a: None)\ndef f(x):\n    return ''\n",
        ),
        (
            "patches run",
            "import unittest\nunittest.TestCase.run = lambda self, result=None: result.addSuccess(self)\ndef f(x):\n    return ''\n",
        ),
        (
            "always equal",
            "class E(str):\n    def __eq__(self, o): return True\n    def endswith(self, s): return True\n    __hash__ = None\ndef f(x):\n    return E()\n",
        ),
        ("leaves", "import os\ndef f(x):\n    os._exit(0)\n"),
        ("exits", "import sys\ndef f(x):\n    sys.exit(0)\n"),
        (
            "hides the tests",
            "import unittest\nunittest.TestLoader.getTestCaseNames = lambda *a: []\ndef f(x):\n    return ''\n",
        ),
    ],
)
def test_cheap_tricks_do_not_pass(sandbox, name, source):
    verdict = judged(sandbox, source).verdict
    assert isinstance(verdict, Failed), name


def test_functions_and_plain_classes_as_pytest_has_them(sandbox):
    code = (
        "def test_one():\n    assert f(1) == 'a/1'\n\n"
        "class TestMore:\n    def setup_method(self):\n        self.n = 2\n"
        "    def test_two(self):\n        assert f(self.n) == 'a/2'\n"
    )
    assert isinstance(judged(sandbox, REFERENCE, code).verdict, Passed)
    assert judged(sandbox, "def f(x):\n    return 'a/1'\n", code).verdict.score == 0.5


def test_tests_that_never_look_are_unguarded_and_accuse_nobody(sandbox):
    code = "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        f(1)\n"
    judgement = judged(sandbox, "def f(x):\n    return None\n", code)
    assert isinstance(judgement.verdict, Passed)
    assert "unguarded" in judgement.findings.notes


def test_a_task_without_a_reference_is_judged_without_doubts(sandbox):
    assert isinstance(judged(sandbox, REFERENCE, reference=None).verdict, Passed)


def test_broken_tests_blame_nobody(sandbox):
    broken = judged(sandbox, REFERENCE, "import unittest\nclass T(:\n").verdict
    none = judged(sandbox, REFERENCE, "x = 1\n").verdict
    missing = judged(
        sandbox, REFERENCE, "import no_such_thing\ndef test_a():\n    assert f(1)\n"
    ).verdict
    for verdict in (broken, none, missing):
        assert isinstance(verdict, Unscored)
        assert verdict.bucket is Bucket.BENCHMARK


def test_set_up_of_a_class_that_fails_fails_its_tests(sandbox):
    code = TESTS.replace("cls.ready = True", "f('x').missing")
    reference = "class S(str):\n    missing = 1\ndef f(x):\n    import os\n    return S(os.path.join('a', str(x)))\n"
    verdict = judged(sandbox, REFERENCE, code, reference).verdict
    assert isinstance(verdict, Failed)
    assert len(verdict.tests) == 3


def test_time_covers_all_tests(sandbox):
    source = REFERENCE.replace("return", "import time; time.sleep(0.5); return")
    verdict = judged(sandbox, source, seconds=0.8).verdict
    assert verdict.bucket is Bucket.WALL_TIME
    assert verdict.score == 0
