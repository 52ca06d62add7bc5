"""The profile `evalplus`: values as a reference computed them, floats within a tolerance."""

import math
from collections import OrderedDict, deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.judge.comparators import parse_profile

EVALPLUS = parse_profile("evalplus", default="exact")
LOOSE = parse_profile("evalplus(1e-4)", default="exact")

NUMBERS = st.one_of(st.booleans(), st.integers(), st.floats(), st.complex_numbers())
PLAIN = st.recursive(
    st.one_of(st.none(), NUMBERS, st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.lists(inner, max_size=3).map(deque),
        st.dictionaries(st.one_of(st.text(max_size=2), st.integers()), inner, max_size=3),
        st.frozensets(st.integers(), max_size=3),
    ),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("evalplus", "evalplus(1e-06)"),
        ("evalplus()", "evalplus(1e-06)"),
        ("evalplus(0)", "evalplus(0.0)"),
        (" evalplus( abs=1e-4 ) ", "evalplus(0.0001)"),
    ],
)
def test_it_is_found_by_name(text, name):
    found = parse_profile(text, default="exact")
    assert found.name == name
    assert parse_profile(found.name, default="exact").name == name


@pytest.mark.parametrize(
    "text", ["evalplus(x)", "evalplus(1, 1e-6)", "evalplus(rel=1e-6)", "evalplus(-1)", "evalpluss"]
)
def test_what_it_does_not_take(text):
    with pytest.raises(InputError, match="known are"):
        parse_profile(text, default="exact")


@given(PLAIN)
def test_a_value_is_as_expected_when_it_is_the_expected_one(value):
    assert EVALPLUS.value(value, value)


@given(PLAIN, PLAIN)
def test_what_is_accepted_is_of_the_same_shape(expected, got):
    kinds = (int, float, complex), (set, frozenset), type(expected)
    if not any(isinstance(expected, kind) and isinstance(got, kind) for kind in kinds):
        assert not EVALPLUS.value(expected, got)


@given(st.integers(), st.integers())
def test_integers_have_no_tolerance(expected, got):
    assert EVALPLUS.value(expected, got) is (expected == got)
    assert LOOSE.value([0.5, expected], [0.5, got]) is (expected == got)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(-1, 1))
def test_floats_have_just_so_much(expected, share):
    room = 1e-4 + 1e-7 * abs(expected)
    got = expected + share * room
    assert LOOSE.value(expected, got) is (abs(got - expected) <= room)
    assert not LOOSE.value(expected, expected + 2.1 * room) or math.isinf(expected + 2.1 * room)


@given(st.sampled_from([math.inf, -math.inf]), st.floats(), st.booleans())
def test_no_tolerance_reaches_the_infinite(expected, got, swapped):
    expected, got = (got, expected) if swapped else (expected, got)
    assert EVALPLUS.value(expected, got) is (expected == got)


@pytest.mark.parametrize(
    ("expected", "got", "accepted"),
    [
        (0.3, 0.1 + 0.2, True),
        ([0.3, (0.3, {"a": 0.3})], [0.1 + 0.2, (0.1 + 0.2, {"a": 0.1 + 0.2})], True),
        (1.0, 1, True),
        (1.0000001, 1, True),
        (1, 1.0000001, False),
        (10000001, 10000000, False),
        ([0.1, 10000001], [0.1, 10000000], False),
        (1.0, True, True),  # equal in Python, as in a test that says ==
        (1.0000001, True, False),
        (math.nan, math.nan, True),
        (math.nan, 0.0, False),
        (0.0, math.nan, False),
        (complex(0.3, 1), complex(0.1 + 0.2, 1), True),
        (complex(math.nan, 1), complex(1, math.nan), True),
        ([1], (1,), False),
        ((1,), [1], False),
        ([1], deque([1]), False),
        ({"1": 2}, {1: 2}, False),
        ({"a": [1, 2]}, OrderedDict(a=[1, 2]), True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({1, 2}, frozenset({1, 2}), True),
        ({0.3}, {0.1 + 0.2}, False),
        ("0.3", "0.30000000001", False),
        (None, False, False),
    ],
)
def test_what_is_accepted(expected, got, accepted):
    assert EVALPLUS.value(expected, got) is accepted


def test_text_is_compared_as_it_is():
    assert EVALPLUS.text("0.3\n", "0.3\n")
    assert not EVALPLUS.text("0.3\n", "0.3")
