"""Types of arguments that JSON lost, restored from calls that are written out in Python.

JSON knows neither tuples nor sets, keys that are integers, nor complex numbers. A task whose
inputs are JSON may show some of its calls in Python, too, as in `f((1, 2), {3: 'a'})`. What stands
at a place there tells what stands at the same place of all inputs; elements of one container share
a place. Nested deeper than shown, a tuple in a tuple goes on as tuples. Where only numbers are
shown and every text among the inputs spells one, they are numbers. All else is what JSON says.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from proctor.judge.literal_asserts import NotPlainError, constant_value

CONTAINERS = (list, tuple, set, frozenset)
NUMBERS = (int, float, complex)

Restore = Callable[[Any], Any]


def literal_calls(tree: ast.AST, name: str) -> list[list[Any]]:
    """Return the arguments of all calls of a function that are written out as literals."""
    calls = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=called), args=args, keywords=[]) if called == name:
                try:
                    calls.append([constant_value(arg) for arg in args])
                except (NotPlainError, RecursionError, TypeError):
                    continue
    return calls


def restore_types(
    calls: Sequence[Sequence[Any]], inputs: Sequence[Sequence[Any]]
) -> list[list[Any]]:
    """Give the arguments of inputs the types that they have in calls."""
    max_arguments = max(map(len, calls), default=0)
    places = []
    for place in range(max_arguments):
        seen = [call[place] for call in calls if place < len(call)]
        texts = [given[place] for given in inputs if place < len(given)]
        numbers = all(type(value) in NUMBERS for value in seen) and _all_numbers(texts)
        places.append(_number if numbers else _restore(seen))
    return [
        [
            value if place is None else place(value)
            for place, value in zip_longest(places[: len(given)], given)
        ]
        for given in inputs
    ]


def _all_numbers(values: Sequence[Any]) -> bool:
    """Tell whether there is text among values, and all of it spells numbers."""
    texts = [value for value in values if isinstance(value, str)]
    return bool(texts) and all(_number(text) is not text for text in texts)


class _Place(NamedTuple):
    """What was seen at one place."""

    container: type | None
    """The one kind of container, None if there were several or none."""
    items: Restore | None
    values: Restore | None
    integer_keys: bool

    def restore(self, value: Any) -> Any:
        """Give a value of JSON the type that was seen here."""
        if isinstance(value, list):
            items = value if self.items is None else [self.items(item) for item in value]
            return (self.container or list)(items)
        if isinstance(value, dict):
            keys: Iterable[Any] = value
            if self.integer_keys and all(map(_is_integer, value)):
                keys = map(int, value)
            values = value.values() if self.values is None else map(self.values, value.values())
            return dict(zip(keys, values, strict=True))
        return value


def _restore(seen: Sequence[Any], above: type | None = None) -> Restore | None:
    """Return what restores values of one place, None if JSON tells all about them."""
    kinds = {type(value) for value in seen if isinstance(value, CONTAINERS)}
    container = kinds.pop() if len(kinds) == 1 else None
    dicts = [value for value in seen if isinstance(value, dict) and value]
    inner = list(_inside(seen))
    if container is tuple is above and not any(isinstance(one, CONTAINERS) for one in inner):
        items: Restore | None = _tuples
    else:
        items = _restore(inner, container) if inner else None
    values = [item for shown in dicts for item in shown.values()]
    place = _Place(
        container=container,
        items=items,
        values=_restore(values) if values else None,
        integer_keys=any(all(type(key) is int for key in shown) for shown in dicts)
        and not any(isinstance(key, str) and _is_integer(key) for shown in dicts for key in shown),
    )
    told = place.container in (None, list) and not place.integer_keys
    return None if told and place.items is None and place.values is None else place.restore


def _inside(seen: Iterable[Any]) -> Iterator[Any]:
    for value in seen:
        if isinstance(value, CONTAINERS):
            yield from value


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii()


def _number(value: Any) -> Any:
    """Return the number that a text spells; everything else as it is."""
    for kind in NUMBERS if isinstance(value, str) else ():
        try:
            return kind(value)
        except ValueError:
            continue
    return value
