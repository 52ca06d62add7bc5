"""Types that JSON lost come back from calls that are written out."""

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.benchmarks.restore_types import literal_calls, restore_types

LEAVES = st.one_of(st.integers(), st.floats(allow_nan=False), st.text(), st.booleans(), st.none())
KEYS = st.one_of(st.just(st.text(max_size=3)), st.just(st.integers()))


def alike(shape: Any) -> Any:
    """Make values all of whose elements have one type, as the arguments of a function have."""
    return st.one_of(
        st.lists(shape, min_size=1, max_size=3),
        st.lists(shape, min_size=1, max_size=3).map(tuple),
        KEYS.flatmap(lambda keys: st.dictionaries(keys, shape, min_size=1, max_size=3)),
    )


def containers(depth: int) -> Any:
    inner = LEAVES if depth == 0 else st.one_of(LEAVES, containers(depth - 1))
    return st.one_of(
        inner,
        st.lists(LEAVES, max_size=3),
        st.lists(st.integers(), min_size=1, max_size=3).map(tuple),
        st.frozensets(st.integers(), min_size=1, max_size=3),
        alike(st.lists(st.integers(), min_size=1, max_size=2).map(tuple)),
        alike(st.dictionaries(st.integers(), st.text(), min_size=1, max_size=2)),
    )


def as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(item) for item in value]
    return value


def same(one: Any, other: Any) -> bool:
    return one == other and repr(one) == repr(other)


@given(st.lists(containers(1), max_size=3))
def test_what_was_written_out_comes_back(call: list[Any]) -> None:
    given_ = json.loads(json.dumps(as_json(call)))
    (found,) = restore_types([call], [given_])
    assert same(found, call)


@given(st.lists(st.one_of(LEAVES, st.lists(LEAVES)), max_size=3), st.lists(st.lists(LEAVES)))
def test_what_json_tells_is_left_alone(call: list[Any], inputs: list[list[Any]]) -> None:
    inputs = [[item for item in given_ if not isinstance(item, str)] for given_ in inputs]
    assert same(restore_types([call], inputs), inputs)


@pytest.mark.parametrize(
    ("calls", "given_", "found"),
    [
        ([[(1, 2)]], [[3, 4, 5]], [(3, 4, 5)]),
        ([[(1, 2)]], [[]], [()]),
        ([[(1, 2)]], [[[3], 4]], [([3], 4)]),  # only a tuple in a tuple says that it goes on
        ([[(1, (2, 3))]], [[[[4, [5]], 6], 7]], [(((4, (5,)), 6), 7)]),
        ([[[(1, 2)]]], [[[3, [4]], [5]]], [[(3, [4]), (5,)]]),
        ([[{1: (2,)}]], [{"3": [4], "-5": []}], [{3: (4,), -5: ()}]),
        ([[{1: 2}]], [{"a": 1, "2": 3}], [{"a": 1, "2": 3}]),
        ([[{1: 2, "a": 3}]], [{"2": 3}], [{"2": 3}]),
        ([[{1, 2}]], [[3, 4, 3]], [{3, 4}]),
        ([[1j]], ["(1+2j)"], [1 + 2j]),
        ([[0, 1j]], ["2.5", "3"], [2.5, 3]),
        ([[5]], ["five"], ["five"]),
        ([[[5]]], [["5"]], [["5"]]),  # words in a list are words
        ([["5"]], ["6"], ["6"]),
        ([[(1,)], [[1]]], [[2]], [[2]]),  # who says both says nothing
        ([[1]], [1, [2], "x"], [1, [2], "x"]),
        ([], [[1], {"1": 2}], [[1], {"1": 2}]),
        ([[(1,), 2]], [[3]], [(3,)]),
    ],
)
def test_places(calls: list[list[Any]], given_: list[Any], found: list[Any]) -> None:
    assert same(restore_types(calls, [given_]), [found])


def test_text_is_a_number_only_if_all_of_it_is() -> None:
    assert restore_types([[1]], [["1"], ["2j"]]) == [[1], [2j]]
    assert restore_types([[1]], [["1"], ["j", 3]]) == [[1], [1j, 3]]
    assert restore_types([[1]], [["1"], ["infj?"]]) == [["1"], ["infj?"]]


def test_a_set_cannot_hold_lists() -> None:
    with pytest.raises(TypeError):
        restore_types([[{1}]], [[[[2]]]])


def test_calls_are_found_wherever_they_stand() -> None:
    text = """
assert f((1, 2), -3) == 4
assert set(f([0] * 2)) == {g(5)}
def check(f):
    assert abs(f({1: (2,)}) - 1) < 1e-6, str(f(x))
    assert f(*[1]) and f(a=1) and h.f(2)
"""
    assert literal_calls(ast.parse(text), "f") == [[(1, 2), -3], [[0, 0]], [{1: (2,)}]]
