"""Programs that read and print."""

import pytest

from proctor.judge.judge import Judge
from proctor.judge.judgement import Rules
from proctor.judge.stdin import output_limit
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import StdinCases, Task
from proctor.records.verdict import Bucket, Passed


def judged(sandbox, source, inputs, outputs, rules=None, seconds=2.0, **kwargs):
    task = Task(
        task_id="t",
        tests=StdinCases(inputs=inputs, outputs=outputs, **kwargs),
        limits=Limits().with_seconds(seconds),
    )
    return Judge(sandbox, rules).judge(task, Program(source=source))


def passed(judgement):
    return [test.passed for test in judgement.verdict.tests]


def test_every_case_starts_afresh_in_an_empty_folder(sandbox):
    source = (
        "import os\nprint(sorted(os.listdir('.')))\nopen('left', 'w').close()\n"
        "os.makedirs('deep/er')\nos.chmod('deep', 0)\n"
    )
    judgement = judged(sandbox, source, ["", ""], ["['main.py']"] * 2)
    assert isinstance(judgement.verdict, Passed)


def test_large_input_and_output_flow_at_the_same_time(sandbox):
    source = "import sys\nfor line in sys.stdin:\n    sys.stdout.write(line)\n    sys.stderr.write('.')\n"
    text = "".join(f"{n} {'x' * 90}\n" for n in range(20_000))
    judgement = judged(sandbox, source, [text], [text], seconds=10)
    assert isinstance(judgement.verdict, Passed)


def test_input_that_is_not_read_does_no_harm(sandbox):
    judgement = judged(sandbox, "print(1)", ["x" * 5_000_000], ["1"])
    assert isinstance(judgement.verdict, Passed)


def test_more_output_is_allowed_where_more_is_expected():
    limits = Limits()
    assert output_limit(limits, "1") == limits.output_bytes
    assert output_limit(limits, "x" * 1_000_000) > 4_000_000


def test_a_slow_case_fails_alone(sandbox):
    source = "import time\nn = int(input())\nif n == 2: time.sleep(60)\nprint(n)\n"
    judgement = judged(sandbox, source, ["1", "2", "3"], ["1", "2", "3"], seconds=0.7)
    assert passed(judgement) == [True, False, True]
    assert judgement.verdict.bucket is Bucket.WALL_TIME


def test_the_error_is_shown_with_its_line(sandbox):
    judgement = judged(sandbox, "x = 1\nprint(y)\n", [""], ["1"])
    assert judgement.verdict.bucket is Bucket.TEST_EXCEPTION
    assert judgement.verdict.detail == "NameError: name 'y' is not defined"
    assert b'File "main.py", line 2' in judgement.findings.shown.stderr


def test_a_syntax_error_is_told_once_and_fails_every_case(sandbox):
    judgement = judged(sandbox, "print(", [""] * 3, ["1"] * 3)
    assert judgement.verdict.bucket is Bucket.SYNTAX
    assert len(judgement.verdict.tests) == 3
    assert len(judgement.findings.executions) == 1


@pytest.mark.parametrize("text", ["SyntaxError: invalid syntax", "MemoryError"])
def test_words_on_stderr_do_not_make_a_pass(sandbox, text):
    source = f"import sys\nprint(1)\nprint({text!r}, file=sys.stderr)\n"
    assert isinstance(judged(sandbox, source, [""], ["1"]).verdict, Passed)


def test_output_that_is_not_text_is_a_wrong_answer(sandbox):
    source = "import sys\nsys.stdout.buffer.write(b'\\xff\\xfe1')\n"
    assert judged(sandbox, source, [""], ["1"]).verdict.bucket is Bucket.WRONG_ANSWER


def test_profiles_early_stop_and_a_maximum(sandbox):
    source = "print(float(input()) + 1e-6)"
    assert passed(judged(sandbox, source, ["1", "2"], ["1", "2"], compare="exact")) == [False] * 2
    assert passed(judged(sandbox, source, ["1", "2"], ["1", "2"])) == [True] * 2
    stopped = judged(sandbox, source, ["1", "2", "3"], ["0", "2", "3"], Rules(early_stop=True))
    assert passed(stopped) == [False]
    most = judged(sandbox, source, ["1", "222", "33"], ["0", "222", "33"], Rules(max_tests=2))
    assert passed(most) == [True, True]
