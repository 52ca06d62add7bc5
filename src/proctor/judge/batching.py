"""When calls may be sent to a candidate in one batch."""

from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any

from proctor.sandbox.inside.roles.examiner import show

MIN_LENGTH = 6
"""Expected values with a shorter repr are trivial: they are among the arguments by chance."""


def can_batch(arguments: Sequence[Any], expected: Sequence[Any]) -> bool:
    """Return True if no test's expected value is among the arguments of another test.

    A candidate can read the whole batch before it answers the first call. In a round-trip test
    (`encode('abcdef') == 'nopqrs'`, then `decode('nopqrs') == 'abcdef'`) it would find answers.
    Values inside other values count, too; trivial values do not.
    """
    keys = _Keys()
    tests: dict[Hashable, set[int]] = {}
    for index, value in enumerate(expected):
        if len(show(value)) >= MIN_LENGTH:
            tests.setdefault(keys.add(value, set()), set()).add(index)
    if not tests:
        return True
    for index, value in enumerate(arguments):
        nested: set[Hashable] = set()
        keys.add(value, nested)
        if any(tests[key] - {index} for key in nested & tests.keys()):
            return False
    return True


class _Keys:
    """Keys by which values are compared: equal for equal values, and for a list and a tuple.

    A container's key is looked up by the keys of its elements, so time is linear in its size.
    """

    def __init__(self) -> None:
        self._containers: dict[Hashable, object] = {}

    def add(self, value: Any, found: set[Hashable]) -> Hashable:
        """Return the key of a value; add it and the keys of all values inside it to `found`."""
        key: Hashable
        match value:
            case list() | tuple() | deque():
                key = self._container(list, tuple(self.add(item, found) for item in value))
            case dict():
                pairs = ((self.add(k, found), self.add(v, found)) for k, v in value.items())
                key = self._container(dict, frozenset(pairs))
            case set() | frozenset():
                key = self._container(set, frozenset(self.add(item, found) for item in value))
            case _:
                key = value if _is_hashable(value) else repr(value)
        found.add(key)
        return key

    def _container(self, kind: type, parts: Hashable) -> object:
        return self._containers.setdefault((kind, parts), object())


def _is_hashable(value: Any) -> bool:
    """Try it: a bytearray has no hash, and `Decimal('sNaN')` refuses to give its own."""
    try:
        hash(value)
    except TypeError:
        return False
    return True
