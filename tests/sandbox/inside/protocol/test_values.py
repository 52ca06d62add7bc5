"""Plain values cross exactly; what is not plain does not; hostile bytes do no harm."""

import collections
import datetime
import decimal
import enum
import fractions
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.sandbox.inside.protocol.frames import Malformed, TooLarge, dump, parse
from proctor.sandbox.inside.protocol.values import (
    MAX_DEPTH,
    STANDARD_TYPES,
    CannotCross,
    pack,
    pack_contents,
    unpack,
)


def cross(value, **kwargs):
    return unpack(parse(dump(pack(value))), **kwargs)


def same(left, right):
    """Equality that knows types, the sign of zero, and NaN."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        if math.isnan(left):
            return math.isnan(right)
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    if isinstance(left, decimal.Decimal):
        return left.as_tuple() == right.as_tuple()
    if isinstance(left, complex):
        return same(left.real, right.real) and same(left.imag, right.imag)
    if isinstance(left, (list, tuple, collections.deque)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return same(list(left.items()), list(right.items()))
    return left == right


atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(2**300), max_value=2**300),
    st.floats(),
    st.complex_numbers(),
    st.text(st.characters(codec=None, exclude_categories=[])),
    st.binary(),
    st.binary().map(bytearray),
    st.decimals(),
    st.fractions(),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(datetime.UTC)),
    st.times(),
    st.timedeltas(),
    st.just(...),
    st.builds(range, st.integers(), st.integers(), st.integers().filter(bool)),
    st.sampled_from(list(STANDARD_TYPES.values())),
)
keys = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.binary(), st.fractions())
plain = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.dictionaries(keys, inner),
        st.sets(keys),
        st.frozensets(keys),
        st.lists(inner).map(collections.deque),
        st.dictionaries(keys, inner).map(collections.OrderedDict),
        st.dictionaries(st.text(), st.integers()).map(collections.Counter),
        st.dictionaries(keys, inner).map(lambda d: collections.defaultdict(list, d)),
    ),
    max_leaves=25,
)


@given(plain)
def test_plain_values_cross_exactly(value):
    assert same(cross(value), value)


def test_the_order_of_a_dictionary_and_the_bound_of_a_deque_are_kept():
    assert list(cross({3: "c", 1: "a", 2: "b"})) == [3, 1, 2]
    assert cross(collections.deque([1, 2], maxlen=5)).maxlen == 5


def test_views_of_dictionaries_compare_like_sets():
    assert cross({"a": 1}.keys()) == {"a"}
    assert cross({"a": 1}.items()) == {("a", 1)}


class Color(enum.IntEnum):
    RED = 3


class Word(enum.StrEnum):
    YES = "yes"


class LyingList(list):
    def __iter__(self):
        return iter([42])

    def __len__(self):
        return 42

    def __eq__(self, other):
        return True

    __hash__ = None


class LyingInt(int):
    def __eq__(self, other):
        return True

    def __index__(self):
        return 42

    def __hash__(self):
        return 0


class LyingDict(dict):
    def items(self):
        return [(1, 2)]


class LyingStr(str):
    def __str__(self):
        return "a lie"


Point = collections.namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Point(1, 2), (1, 2)),
        (Color.RED, 3),
        (Word.YES, "yes"),
        (np.float64(1.5), 1.5),
        (np.str_("a"), "a"),
        (LyingList([1, 2]), [1, 2]),
        (LyingInt(7), 7),
        (LyingDict({"a": 1}), {"a": 1}),
        (LyingStr("true"), "true"),
        (type("S", (set,), {})({1}), {1}),
        (type("T", (tuple,), {})((1,)), (1,)),
        (type("D", (decimal.Decimal,), {})("1.5"), decimal.Decimal("1.5")),
        (type("F", (fractions.Fraction,), {})(1, 3), fractions.Fraction(1, 3)),
    ],
)
def test_an_instance_of_a_subclass_crosses_as_its_plain_base(value, plain):
    assert same(cross(value), plain)


@pytest.mark.parametrize(
    "value",
    [np.int64(-7), np.uint8(7), np.bool_(True), np.float32(0.5), np.float16(2.0), np.int32(3)],
)
def test_numpy_scalars_are_numbers_without_numpy_and_themselves_with_it(value):
    assert cross(value) == value.item()
    assert type(cross(value)) is type(value.item())
    assert same(cross(value, numpy=True), value)


@pytest.mark.parametrize(
    "array", [np.arange(6).reshape(2, 3), np.zeros((0, 3)), np.array(["ab", "c"]), np.ones(3) * 1j]
)
def test_arrays_cross_as_arrays(array):
    there = cross(array, numpy=True)
    assert there.dtype == array.dtype
    assert there.shape == array.shape
    assert (there == array).all()
    there.setflags(write=True)


def test_an_array_of_objects_does_not_cross():
    with pytest.raises(CannotCross):
        pack(np.array([object()]))


@pytest.mark.parametrize("value", [object(), lambda: 0, iter([]), open, Color, type("C", (), {})])
def test_other_objects_are_left_to_the_caller(value):
    assert pack([value], lambda other: {"h": other is value}) == [{"h": True}]
    with pytest.raises(CannotCross):
        pack(value)


def test_a_cycle_or_a_tower_ends_at_the_depth_that_may_cross():
    cycle: list = []
    cycle.append(cycle)
    seen: list = []
    pack(cycle, lambda value: seen.append(value))
    assert seen == [cycle]
    tower: list = []
    for _ in range(MAX_DEPTH - 1):
        tower = [tower]
    assert cross(tower) == tower


def test_a_bomb_of_shared_lists_is_refused_before_it_grows():
    bomb: list = []
    for _ in range(60):
        bomb = [bomb] * 10
    with pytest.raises(TooLarge):
        pack(bomb, lambda _: None)


def test_an_argument_that_stands_twice_stays_one_object():
    shared = [1]
    containers: list = []
    packed = pack([shared, {"k": shared}], known={}, containers=containers)
    assert [id(c) for c in containers[1:2]] == [id(shared)]
    there: list = []
    first, second = unpack(packed, containers=there)
    assert first is second["k"]
    assert len(there) == len(containers)


@given(plain)
def test_both_sides_number_containers_alike(value):
    ours: list = []
    theirs: list = []
    unpack(parse(dump(pack(value, known={}, containers=ours))), containers=theirs)
    assert [type(c) for c in ours] == [type(c) for c in theirs]


def test_a_known_container_is_a_reference_and_its_contents_are_itself():
    inner, outer = [1], [0]
    outer.append(inner)
    known = {id(outer): 0, id(inner): 1}
    assert pack([outer], known=known) == [{"@": 0}]
    assert pack_contents(outer, lambda _: None, known) == [0, {"@": 1}]


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(
        st.lists(inner),
        st.dictionaries(st.text(), inner, max_size=2),
        st.dictionaries(st.sampled_from("itdsFbBcrCoDqn/yMmleKITahHxk@"), inner, max_size=1),
    ),
    max_leaves=30,
)


@given(json_values)
def test_hostile_json_is_a_plain_value_or_malformed(data):
    try:
        value = unpack(json.loads(json.dumps(data)))
    except Malformed:
        return
    pack(value)


@pytest.mark.parametrize(
    "data",
    [
        {"i": "zz"},
        {"i": 5},
        {"i": "1" * ((4 << 20) + 1)},
        {"s": [[1]]},
        {"d": [[[1], 2]]},
        {"d": [[1]]},
        {"d": 5},
        {"r": [0, 1, 0]},
        {"r": ["a", 1, 1]},
        {"b": "xyz"},
        {"c": ["1", 2]},
        {"n": "1e99999999999999999999"},
        {"n": ["a"]},
        {"/": [1, 0]},
        {"/": [1]},
        {"/": [{"i": "0x" + "f" * 200_000}, 3]},
        {"y": [2020, 13, 1]},
        {"l": [1e30, 0, 0]},
        {"M": [1, 2]},
        {"T": "__import__"},
        {"T": ["int"]},
        {"D": ["eval", []]},
        {"a": ["|O", [1], "00"]},
        {"a": ["<i8", [-1], ""]},
        {"q": [[1], -1]},
        {"h": [1, "x", []]},
        {"a": 1, "b": 2},
        {},
        {"unknown": 1},
    ],
)
def test_malformed_values_are_refused(data):
    with pytest.raises(Malformed):
        unpack(data)


def test_keys_that_could_collide_are_counted_and_strings_are_not():
    numbers = {"s": list(range(100))}
    assert unpack(numbers, hashed=100) == set(range(100))
    with pytest.raises(TooLarge):
        unpack(numbers, hashed=99)
    words = {"d": [[str(n), n] for n in range(100)]}
    assert len(unpack(words, hashed=0)) == 100


def test_data_nested_beyond_any_packed_value_is_refused():
    data: list = []
    for _ in range(5 * MAX_DEPTH):
        data = [data]
    with pytest.raises(Malformed):
        unpack(data)
