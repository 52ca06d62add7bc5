"""validate_results: what cases say, in the words of many runners, and what is made of it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.integrations.validate_results import VERDICTS, validate_results


def verdict(**case):
    (only,) = validate_results([case])["verdicts"]
    return only


def nested(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return value


def test_no_cases_give_zeros():
    assert validate_results([]) == {
        "pass_rate": 0.0,
        "error_rate": 0.0,
        "passed_count": 0,
        "total_count": 0,
        "verdicts": [],
    }


def test_rates_counts_and_verdicts_in_order():
    cases = [
        {"status": "passed"},
        {"status": "failed"},
        {"status": "timeout"},
        {"status": "error"},
        {"passed": True},
        {"expected": "1", "actual": "2"},
    ]
    assert validate_results(cases) == {
        "pass_rate": 0.3333,
        "error_rate": 0.3333,
        "passed_count": 2,
        "total_count": 6,
        "verdicts": ["pass", "fail", "error", "error", "pass", "fail"],
    }


@pytest.mark.parametrize(
    ("passed", "errors", "total", "pass_rate", "error_rate"),
    [(1, 1, 3, 0.3333, 0.3333), (2, 0, 3, 0.6667, 0), (7, 0, 7, 1, 0), (0, 1, 7, 0, 0.1429)],
)
def test_rates_are_rounded_to_four_places(passed, errors, total, pass_rate, error_rate):
    statuses = ["pass"] * passed + ["error"] * errors
    statuses += ["fail"] * (total - len(statuses))
    found = validate_results({"status": status} for status in statuses)
    assert (found["pass_rate"], found["error_rate"]) == (pass_rate, error_rate)
    assert (found["passed_count"], found["total_count"]) == (passed, total)


@given(st.lists(st.sampled_from([*VERDICTS])))
def test_every_case_has_one_verdict_and_the_rates_count_them(wanted):
    found = validate_results([{"status": one} for one in wanted])
    assert found["verdicts"] == wanted
    if wanted:
        assert found["pass_rate"] == round(wanted.count("pass") / len(wanted), 4)
        assert found["error_rate"] == round(wanted.count("error") / len(wanted), 4)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("passed", "pass"),
        ("PASS", "pass"),
        (" Accepted ", "pass"),
        ("success", "pass"),
        ("failed", "fail"),
        ("Wrong Answer", "fail"),
        ("wrong-answer", "fail"),
        ("assertion_fail", "fail"),
        ("error", "error"),
        ("timeout", "error"),
        ("timed out", "error"),
        ("TimeLimitExceeded", "error"),
        ("time_limit_exceeded", "error"),
        ("syntax_error", "error"),
        ("RuntimeError", "error"),
    ],
)
def test_words_of_many_runners_are_understood(status, expected):
    assert verdict(status=status) == expected


def test_an_error_or_a_timeout_is_an_error_whatever_else_is_said():
    for status in ("error", "timeout"):
        assert verdict(status=status, passed=True, expected="1", actual="1") == "error"


def test_a_failure_is_a_failure_whatever_else_is_said():
    assert verdict(status="failed", passed=True, expected="1", actual="1") == "fail"


def test_the_runners_own_judgement_stands_over_ours():
    assert verdict(passed=True, expected=[1, 2], actual=[2, 1]) == "pass"
    assert verdict(passed=False, expected=1, actual=1) == "fail"
    assert verdict(status="success", passed=False) == "fail"


def test_outputs_are_evidence_and_a_word_for_a_pass_is_not():
    for status in ("passed", "ok", "success", "completed", None):
        assert verdict(status=status, expected="1", actual="2") == "fail"
        assert verdict(status=status, expected="1", actual="1\n") == "pass"


@pytest.mark.parametrize("expected", ["expected", "expected_output"])
@pytest.mark.parametrize("actual", ["actual", "actual_output", "got"])
def test_outputs_go_by_several_names(expected, actual):
    assert verdict(**{expected: "0.5", actual: "0.50009"}) == "pass"
    assert verdict(**{expected: "0.5", actual: "0.51"}) == "fail"


@pytest.mark.parametrize(
    ("expected", "actual", "found"),
    [
        ("hello", "hello\n", "pass"),
        ("hello", "Hello", "fail"),
        ([1, (2, 3)], [1, [2, 3]], "pass"),
        (0.3, 0.1 + 0.2, "pass"),
        (3, "3\n", "pass"),
        (3.0, "3.00001", "pass"),
        ("3", 3, "pass"),
        ("[1, 2]", [1, 2], "pass"),
        (True, "True", "pass"),
        (10, "1_0", "fail"),
        (None, None, "pass"),
        (None, "None", "fail"),
        ("None", None, "fail"),
        ("", None, "fail"),
        ([1], 1, "fail"),
        (math.nan, "nan", "pass"),
    ],
)
def test_outputs_are_compared_as_text_or_as_values(expected, actual, found):
    assert verdict(expected=expected, actual=actual) == found


def test_values_that_cannot_be_written_out_are_no_text():
    assert verdict(expected="1", actual=10**5000) == "fail"
    assert verdict(expected="0", actual=nested(20_000)) == "fail"


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"status": "completed"},
        {"status": None},
        {"status": 3},
        {"expected": "1"},
        {"actual": "1"},
        {"passed": None},
        {"passed": 1},
        {"passed": "yes"},
        {"status": "passed", "passed": 0},
        {"output": "1"},
    ],
)
def test_a_case_that_says_nothing_is_bad_input_that_names_it(case):
    with pytest.raises(InputError, match=r"test case 1: give status, passed .* it has "):
        validate_results([{"status": "passed"}, case])


@pytest.mark.parametrize("case", ["passed", None, True, ["status", "passed"]])
def test_a_case_must_be_a_mapping(case):
    with pytest.raises(InputError, match="test case 0: not a mapping"):
        validate_results([case])
