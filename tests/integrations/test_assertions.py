"""Judging code by assertions: every sentence that reward code relies on."""

import pytest

import proctor
from proctor.errors import InputError
from proctor.integrations.assertions import (
    EXIT_ASSERTION_FAIL,
    EXIT_ERROR,
    EXIT_PASS,
    EXIT_SYNTAX_ERROR,
    EXIT_TIMEOUT,
    CandidateResult,
    run_candidate,
    score_code_exec,
)

ADD = "def add(a, b):\n    return a + b\n"
GOOD = ["add(1, 2) == 3", "assert add(0, 0) == 0"]


def test_exit_codes_are_the_words_of_the_outcomes() -> None:
    codes = [EXIT_PASS, EXIT_ASSERTION_FAIL, EXIT_SYNTAX_ERROR, EXIT_TIMEOUT, EXIT_ERROR]
    assert codes == ["pass", "assertion_fail", "syntax_error", "timeout", "error"]
    assert all(type(code) is str for code in codes)


def test_an_assertion_is_an_expression_or_starts_with_assert() -> None:
    assert run_candidate(ADD, GOOD) == CandidateResult(
        score=1.0, exit_code=EXIT_PASS, passed=2, total=2, detail="", per_assertion=[True, True]
    )


@pytest.mark.parametrize(
    "assertion",
    [
        "add(1, 2) == 3",
        "assert add(1, 2) == 3",
        "  assert add(1, 2) == 3, 'with a message'\n",
        "assert(add(1, 2) == 3)",
        "add(1, 2)",
        "add([1], [2]) == [1, 2] and add('a', 'b') == 'ab'",
        "x = add(1, 2)\nassert x == 3",
        "import math\nassert math.isclose(add(0.1, 0.2), 0.3)",
        "all(add(n, n) == 2 * n for n in range(10))",
    ],
)
def test_forms_of_assertions(assertion: str) -> None:
    result = run_candidate(ADD, [assertion])
    assert (result.score, result.exit_code) == (1.0, EXIT_PASS), result.detail


def test_partial_credit() -> None:
    result = run_candidate(ADD, [*GOOD, "add(1, 1) == 3", "add(2, 2) == 4"])
    assert (result.score, result.exit_code) == (0.75, EXIT_ASSERTION_FAIL)
    assert (result.passed, result.total) == (3, 4)
    assert result.per_assertion == [True, True, False, True]
    assert result.detail


def test_no_assertions_at_all_is_an_error() -> None:
    for code in (ADD, "", "syntax error"):
        result = run_candidate(code, [])
        assert (result.score, result.exit_code, result.total) == (0.0, EXIT_ERROR, 0)
        assert result.detail == "there are no assertions"


@pytest.mark.parametrize("broken", ["add(1, 1) + 'x'", "add(1)", "nobody(1) == 1", "1 / 0 == 1"])
def test_an_exception_inside_an_assertion_makes_it_false(broken: str) -> None:
    result = run_candidate(ADD, [GOOD[0], broken, GOOD[1]])
    assert result.exit_code == EXIT_ASSERTION_FAIL
    assert result.per_assertion == [True, False, True]
    assert result.score == pytest.approx(2 / 3)


def test_an_exception_of_the_candidate_inside_an_assertion() -> None:
    code = "def f(x):\n    if x:\n        raise ValueError('no')\n    return 0\n"
    result = run_candidate(code, ["f(0) == 0", "f(1) == 1"])
    assert (result.exit_code, result.score) == (EXIT_ASSERTION_FAIL, 0.5)
    assert "ValueError: no" in result.detail


def test_a_module_that_raises_while_loading_is_an_error() -> None:
    for code in ("1 / 0", "import no_such_module", "raise AssertionError", "assert False"):
        result = run_candidate(ADD + code, GOOD)
        assert (result.exit_code, result.score, result.passed) == (EXIT_ERROR, 0.0, 0), code


@pytest.mark.parametrize(
    "code", ["import subprocess", "from os import system", "import socket\n", "import ctypes"]
)
def test_a_denied_import_is_an_error_that_says_so(code: str) -> None:
    result = run_candidate(f"{code}\n{ADD}", GOOD)
    assert (result.exit_code, result.score) == (EXIT_ERROR, 0.0)
    assert "denied" in result.detail


def test_a_denied_call_inside_an_assertion_is_an_error_too() -> None:
    code = "import os\ndef add(a, b):\n    os.system('true')\n    return a + b\n"
    result = run_candidate(code, GOOD)
    assert result.exit_code == EXIT_ERROR
    assert "denied" in result.detail


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_of_output_is_an_error_with_exactly_this_detail(stream: str) -> None:
    code = (
        f"import sys\ndef add(a, b):\n    sys.{stream}.write('x' * 10_000_000)\n    return a + b\n"
    )
    result = run_candidate(code, GOOD)
    assert (result.exit_code, result.detail) == (EXIT_ERROR, "output overflow")
    assert run_candidate("while True: print('x' * 1000)", GOOD).detail == "output overflow"


def test_some_output_is_no_harm() -> None:
    assert run_candidate(f"print('x' * 1000)\n{ADD}", GOOD).score == 1.0


@pytest.mark.parametrize("wait", ["while True: pass", "import time; time.sleep(60)"])
def test_a_timeout_scores_nothing_whatever_passed_before(wait: str) -> None:
    code = f"def f(x):\n    if x == 2:\n        {wait}\n    return x\n"
    result = run_candidate(code, ["f(0) == 0", "f(1) == 1", "f(2) == 2", "f(3) == 3"], 0.5)
    assert (result.score, result.exit_code) == (0.0, EXIT_TIMEOUT)


def test_the_time_covers_all_assertions_together() -> None:
    code = "import time\ndef f(x):\n    time.sleep(0.3)\n    return x\n"
    result = run_candidate(code, [f"f({n}) == {n}" for n in range(4)], timeout_s=0.7)
    assert (result.exit_code, result.score) == (EXIT_TIMEOUT, 0.0)


@pytest.mark.parametrize("code", ["def add(:", "def add(a, b):\nreturn", "\0", "(" * 10_000])
def test_what_the_parser_refuses(code: str) -> None:
    result = run_candidate(code, GOOD)
    assert (result.exit_code, result.score) == (EXIT_SYNTAX_ERROR, 0.0)
    assert result.per_assertion == [False, False]


@pytest.mark.parametrize(
    "way_out",
    [
        "import os; os._exit(0)",
        "raise SystemExit(0)",
        "import sys; sys.exit()",
        "quit()",
    ],
)
def test_leaving_early_is_no_way_out(way_out: str) -> None:
    for code in (way_out, f"def add(a, b):\n    {way_out}\n"):
        result = run_candidate(code, GOOD)
        assert (result.exit_code, result.score) == (EXIT_ERROR, 0.0)
        assert not result.unscored


def test_a_liar_is_not_believed() -> None:
    code = (
        "class Yes:\n"
        "    def __eq__(self, other): return True\n"
        "    def __bool__(self): return True\n"
        "def add(a, b): return Yes()\n"
    )
    assert run_candidate(code, ["add(1, 2) == 3"]).score == 0.0


@pytest.mark.parametrize("broken", ["add(1, 2) ==", "", "   ", "assert", "def f("])
def test_an_assertion_that_is_none_says_nothing_about_the_candidate(broken: str) -> None:
    result = run_candidate(ADD, [GOOD[0], broken])
    assert (result.exit_code, result.score, result.unscored) == (EXIT_ERROR, 0.0, True)
    assert result.detail == f"not an assertion: {broken!r}"
    assert result.per_assertion == [False, False]


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_time_that_is_none(seconds: float) -> None:
    with pytest.raises(
        InputError, match=r"timeout_s is .*; it must be a number of seconds above 0"
    ):
        run_candidate(ADD, GOOD, seconds)


def test_text_of_every_script() -> None:
    code = "def f(x):\n    return {'é': 'ü', '日': '本'}[x]\n"
    assert run_candidate(code, ["f('é') == 'ü'", "f('日') == '本'"]).score == 1.0
    assert run_candidate("def f(): return '\\ud800'", ["f() == '\\ud800'"]).score == 1.0


# score_code_exec


@pytest.mark.parametrize(
    ("prediction", "score"),
    [
        (f"Here it is:\n```python\n{ADD}```\nGood luck!", 1.0),
        (f"```\n{ADD}```", 1.0),
        (ADD, 1.0),
        (f"```python\n{ADD}```\n```python\ndef add(a, b): return 0\n```", 1.0),
        (f"```python\n{ADD.replace('+', '-')}```", 0.5),
        (f"```python\n{ADD}", 0.0),
        ("I cannot do that.", 0.0),
        ("", 0.0),
    ],
)
def test_code_is_taken_from_an_answer(prediction: str, score: float) -> None:
    assert score_code_exec(prediction, GOOD) == score


def test_score_is_a_plain_float() -> None:
    assert type(score_code_exec(ADD, GOOD)) is float
    assert type(score_code_exec("```", GOOD)) is float
    assert score_code_exec(ADD, []) == 0.0


def test_the_public_names() -> None:
    assert proctor.run_candidate is run_candidate
    assert proctor.score_code_exec is score_code_exec
