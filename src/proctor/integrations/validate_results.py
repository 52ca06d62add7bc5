"""`validate_results`: rates and verdicts of test cases that some other runner has run."""

from collections.abc import Iterable, Mapping
from typing import Any

from proctor.errors import InputError
from proctor.judge.comparators import PROFILES

VERDICTS: dict[str, tuple[str, ...]] = {
    "pass": ("pass", "passed", "ok", "success", "succeeded", "accepted", "correct"),
    "fail": ("fail", "failed", "failure", "wrong", "wronganswer", "incorrect", "assertionfail"),
    "error": (
        *("error", "errored", "exception", "crash", "crashed", "memory", "memorylimitexceeded"),
        *("runtimeerror", "compileerror", "syntaxerror"),
        *("timeout", "timedout", "timelimitexceeded"),
    ),
}
"""What other runners call the three verdicts, letters only; other words say nothing."""

_STATUSES = {word: verdict for verdict, words in VERDICTS.items() for word in words}
_EXPECTED = ("expected", "expected_output")
_ACTUAL = ("actual", "actual_output", "got")


def validate_results(test_cases: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return `pass_rate`, `error_rate`, `passed_count`, `total_count` and `verdicts`.

    Each case is a mapping with any of these, and the first that speaks decides:
    `status`, a word of `VERDICTS` for an error (a timeout is one) or a failure; `passed`, a bool,
    the runner's own judgement; `expected` (or `expected_output`) with `actual` (or
    `actual_output`, `got`), compared by the profile `validator`; `status`, a word for a pass.
    Rates are rounded to 4 places; no cases give zeros. A case that says nothing is an InputError.
    """
    verdicts = [_verdict(place, case) for place, case in enumerate(test_cases)]
    total, passed, errors = len(verdicts), verdicts.count("pass"), verdicts.count("error")
    return {
        "pass_rate": round(passed / total, 4) if total else 0.0,
        "error_rate": round(errors / total, 4) if total else 0.0,
        "passed_count": passed,
        "total_count": total,
        "verdicts": verdicts,
    }


def _verdict(place: int, case: Mapping[str, Any]) -> str:
    if not isinstance(case, Mapping):
        raise InputError(f"test case {place}: not a mapping but {type(case).__name__}")
    status = _STATUSES.get("".join(filter(str.isalpha, str(case.get("status")).lower())))
    if status in ("error", "fail"):
        return status
    expected, actual = (
        [case[name] for name in names if name in case] for names in (_EXPECTED, _ACTUAL)
    )
    passed = case.get("passed")
    if passed is None and expected and actual:
        passed = _agree(expected[0], actual[0])
    elif passed is None and status == "pass":
        passed = True
    if not isinstance(passed, bool):
        raise InputError(
            f"test case {place}: give status, passed (true or false), or expected and actual; "
            f"it has {', '.join(map(str, case)) or 'nothing'}"
        )
    return "pass" if passed else "fail"


def _agree(expected: Any, actual: Any) -> bool:
    """Compare as values, or as text where one of the two is text: outputs often are."""
    rule = PROFILES["validator"]
    if expected is None or actual is None or str not in (type(expected), type(actual)):
        return rule.value(expected, actual)
    try:
        return rule.text(str(expected), str(actual))
    except (ValueError, RecursionError):
        # An integer too long or a value too deep to be written out; nobody printed it either.
        return False
