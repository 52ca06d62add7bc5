"""What takes an answer: a comparator profile, or a checker that the test's author wrote.

A checker defines `check(input, expected, got)` and says whether `got` is right. It is code of the
benchmark, so it runs where test code runs: in a fresh examiner for every answer, in a box that no
candidate is in. What it gets of the candidate is text or a plain value, never an object. A checker
that raises has not accepted.
"""

from collections.abc import Callable
from typing import Any

from proctor.extraction.python.syntax import bound_names
from proctor.extraction.python.syntax import parse as parse_python
from proctor.judge.comparators import Profile
from proctor.judge.conversation import HarnessError, ended_by
from proctor.judge.live_tests import UnfitError, examiner_limits
from proctor.records.limits import Limits
from proctor.records.task import Task
from proctor.sandbox import Sandbox
from proctor.sandbox.inside.protocol import frames
from proctor.sandbox.inside.protocol.frames import Reader, TooLarge, parse
from proctor.sandbox.inside.protocol.values import CannotCross, pack

Accept = Callable[[Any, Any, Any], str | None]
"""Takes what was given, expected and got; returns None, or why the answer is not taken."""

WRONG = "wrong answer"


def by_text(profile: Profile) -> Accept:
    """Take standard output by a profile."""
    return lambda _, expected, got: None if profile.text(expected, got) else WRONG


def by_value(profile: Profile) -> Accept:
    """Take values of calls by a profile."""
    return lambda _, expected, got: None if profile.value(expected, got) else WRONG


def find_checker_problem(code: str) -> str | None:
    """Say what is wrong with a checker's code, None if nothing is to be seen."""
    tree = parse_python(code)
    if tree is None or "check" not in bound_names(tree):
        return "is not Python that defines check(input, expected, got)"
    return None


class Checker:
    """Takes answers by the word of the test author's code."""

    def __init__(self, sandbox: Sandbox, task: Task, code: str) -> None:
        self._sandbox = sandbox
        self._limits: Limits = examiner_limits(task.limits)
        self._order = {"code": code, "seed": int(task.sha256[:16], 16)}

    def __call__(self, given: Any, expected: Any, got: Any) -> str | None:
        """Ask the checker about one answer."""
        try:
            asked = [_packed("an input", given), _packed("an expected output", expected), pack(got)]
            order = frames.pack(frames.EXAMINE, 0, frames.dump({**self._order, "values": asked}))
        except CannotCross as error:
            return f"wrong answer: {error}"
        except TooLarge as error:
            return f"the answer is too large for the checker: {error}"
        exchanged = self._sandbox.exchange(order, self._limits, "checker")
        frame = next(Reader().feed(exchanged.answers), None)
        if frame is None:
            return f"the checker gave no answer: {ended_by(exchanged.execution.ending).detail}"
        said = parse(frame.payload)
        if frame.kind == frames.UNFIT:
            raise UnfitError(said["detail"])
        if frame.kind != frames.RESULT:
            raise HarnessError(f"the checker sent a message of kind {frame.kind}")
        return None if said["accepted"] is True else str(said["detail"])


def _packed(what: str, value: Any) -> Any:
    """Pack a value of the task's own, which must be able to cross."""
    try:
        return pack(value)
    except (CannotCross, TooLarge) as error:
        raise UnfitError(f"{what} of the task cannot be given to its checker: {error}") from None
