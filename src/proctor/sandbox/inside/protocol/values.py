"""Plain values across the border, and nothing else.

`pack` turns a value into something JSON can carry, `unpack` does the reverse with hostile input.
None, booleans, small integers, floats, strings and lists stand for themselves; all else is an
object with exactly one key, its tag. An instance of a subclass crosses as its nearest plain
base, read with the base type's own slots, so that a lying `__eq__` or `__iter__` stays behind.
What is not plain is left to the `other` function of either side (handles, callbacks, references
to arguments). Nothing here ever runs code that came over the border.
"""

import builtins
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from .frames import Malformed, TooLarge
from .numpy_values import pack_array, unpack_array

Other = Callable[[Any], Any]
Unknown = Callable[[str, Any], Any]

globals()["__builtins__"] = vars(builtins).copy()  # a candidate may patch its own only

MAX_DEPTH = 100
MAX_PACKED = 1_000_000
SMALL = 1 << 63
MAX_INT_DIGITS = 4 << 20
MAX_FRACTION_DIGITS = 25_000

KEYS: type = type({}.keys())
ITEMS: type = type({}.items())
SIMPLE = {str, float, bool, type(None)}
MUTABLE = (list, dict, set, deque, bytearray)

STANDARD_TYPES: dict[str, type] = {
    **{n: t for n, t in vars(builtins).items() if isinstance(t, type) and t.__name__ == n},
    **{t.__name__: t for t in (OrderedDict, defaultdict, deque, type(None))},
}
LATE = {
    "collections": ("Counter",),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "datetime": ("date", "datetime", "time", "timedelta"),
}
"""Types whose modules are loaded when they are needed: few values are of them."""


class CannotCross(Exception):
    """A value that is not plain and has no other way across."""


def refuse_handle(value: Any) -> Any:
    """Be the `other` of a side that sends plain values only."""
    raise CannotCross(f"{type(value).__name__} objects cannot cross the border")


def pack(
    value: Any,
    other: Other = refuse_handle,
    known: dict[int, int] | None = None,
    containers: list[Any] | None = None,
) -> Any:
    """Return `value` as JSON can carry it.

    `known` numbers the mutable containers among a call's arguments, by id: one that stands there
    crosses as a reference. With a list of `containers` they are numbered as they are met.
    """
    return _Packer(other, known, containers).pack(value, MAX_DEPTH)


def pack_contents(value: Any, other: Other, known: dict[int, int]) -> Any:
    """Return a known container as what it holds now, known ones in it as references."""
    return _Packer(other, known).contents(value, MAX_DEPTH)


class _Packer:
    def __init__(
        self, other: Other, known: dict[int, int] | None, containers: list[Any] | None = None
    ) -> None:
        self.other = other
        self._known = known
        self._containers = containers
        self._left = MAX_PACKED

    def pack(self, value: Any, depth: int) -> Any:
        kind = type(value)
        self._left -= 1
        if self._left < 0:
            raise TooLarge(f"more than {MAX_PACKED} values in one message")
        if kind is str or kind is float or kind is bool or value is None:
            return value
        if kind is int:
            return value if -SMALL < value < SMALL else {"i": hex(value)}
        if depth == 0:
            return self.other(value)
        if self._known is not None:
            if id(value) in self._known:
                return {"@": self._known[id(value)]}
            if self._containers is not None and isinstance(value, MUTABLE):
                self._known[id(value)] = len(self._containers)
                self._containers.append(value)
        return self.contents(value, depth)

    def contents(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is list:
            return self.all(value, depth - 1)
        base = kind if kind in _PACKERS else _plain_base(kind)
        if base is None:
            array = pack_array(value)
            return self.other(value) if array is None else array
        return _PACKERS[base](self, value, depth - 1)

    def all(self, values: Iterable[Any], depth: int) -> list[Any]:
        items = list(values)
        kinds = set(map(type, items))
        small = kinds == {int} and min(items) > -SMALL and max(items) < SMALL
        if not small and not kinds <= SIMPLE:
            return [self.pack(item, depth) for item in items]
        self._left -= len(items)  # long flat lists are common, and this is ten times faster
        if self._left < 0:
            raise TooLarge(f"more than {MAX_PACKED} values in one message")
        return items

    def pairs(self, pairs: Iterable[tuple[Any, Any]], depth: int) -> list[Any]:
        return [[self.pack(key, depth), self.pack(value, depth)] for key, value in pairs]


def _plain_base(kind: type) -> type | None:
    for base in kind.__mro__:
        if base in _PACKERS or _learn(base):
            return base
    return None


def _learn(kind: type) -> bool:
    """Learn to pack a type whose module is there only if somebody loaded it."""
    name = kind.__name__
    if name not in LATE.get(kind.__module__.lstrip("_"), ()) or standard_type(name) is not kind:
        return False
    _PACKERS[kind] = _LATE_PACKERS[name]
    return True


def standard_type(name: str) -> type:
    """Return a standard type by its name; KeyError if it is none."""
    if name not in STANDARD_TYPES:
        for module, names in LATE.items():
            if name in names:
                STANDARD_TYPES[name] = getattr(import_module(module), name)
    return STANDARD_TYPES[name]


def type_name(kind: type) -> str | None:
    """Return the name by which a standard type crosses."""
    name = kind.__name__
    known = name in STANDARD_TYPES or name in LATE.get(kind.__module__.lstrip("_"), ())
    return name if known and standard_type(name) is kind else None


def _pack_type(packer: _Packer, value: Any, _: int) -> Any:
    name = type_name(value)
    return packer.other(value) if name is None else {"T": name}


def _pack_set(packer: _Packer, value: Any, depth: int) -> Any:
    """Pack a set so that the copy is iterated in the same order.

    That order depends on how a set came about: a literal is filled from a frozenset, other sets
    element by element. Tests that compare `tuple(some_set)` rely on it, wrongly but often.
    """
    items = list(set.__iter__(value))
    literal = items != list(set(items)) and items == list(literal_set(items))
    return {"S" if literal else "s": packer.all(items, depth)}


def literal_set(items: Iterable[Any]) -> set[Any]:
    """Make a set as Python makes one from a literal."""
    return set().union(frozenset(items))


def _pack_default(packer: _Packer, value: Any, depth: int) -> Any:
    factory: Any = vars(defaultdict)["default_factory"].__get__(value)
    name = type_name(factory) if isinstance(factory, type) else None
    return {"D": [name, packer.pairs(dict.items(value), depth)]}


def _pack_moment(value: Any) -> Any:
    """Dates and times with no zone or a fixed offset; a named zone has no plain form."""
    zone = value.tzinfo
    if zone is not None and type(zone).__name__ != "timezone":
        raise CannotCross("a time with a named zone cannot cross the border")
    delta = None if zone is None else zone.utcoffset(None)
    offset = None if delta is None else delta / standard_type("timedelta")(microseconds=1)
    day = [value.year, value.month, value.day] if hasattr(value, "year") else []
    return [*day, value.hour, value.minute, value.second, value.microsecond, value.fold, offset]


_PACKERS: dict[type, Callable[[_Packer, Any, int], Any]] = {
    int: lambda p, v, d: p.pack(int.__index__(v), d),
    float: lambda p, v, d: float.__float__(v),
    str: lambda p, v, d: str.__str__(v),
    list: lambda p, v, d: p.all(list.__iter__(v), d),
    tuple: lambda p, v, d: {"t": p.all(tuple.__iter__(v), d)},
    dict: lambda p, v, d: {"d": p.pairs(dict.items(v), d)},
    set: _pack_set,
    frozenset: lambda p, v, d: {"F": p.all(frozenset.__iter__(v), d)},
    bytes: lambda p, v, d: {"b": bytes.hex(v)},
    bytearray: lambda p, v, d: {"B": bytearray.hex(v)},
    complex: lambda p, v, d: {"c": [complex.real.__get__(v), complex.imag.__get__(v)]},
    range: lambda p, v, d: {"r": p.all((v.start, v.stop, v.step), d)},
    OrderedDict: lambda p, v, d: {"o": p.pairs(OrderedDict.items(v), d)},
    defaultdict: _pack_default,
    deque: lambda p, v, d: {"q": [p.all(deque.__iter__(v), d), v.maxlen]},
    type(...): lambda p, v, d: {"e": 0},
    KEYS: lambda p, v, d: {"K": p.all(v, d)},
    ITEMS: lambda p, v, d: {"I": p.pairs(v, d)},
    type: _pack_type,
}

_LATE_PACKERS: dict[str, Callable[[_Packer, Any, int], Any]] = {
    "Counter": lambda p, v, d: {"C": p.pairs(dict.items(v), d)},
    "Decimal": lambda p, v, d: {"n": vars(standard_type("Decimal"))["__str__"](v)},
    "Fraction": lambda p, v, d: {"/": p.all((v.numerator, v.denominator), d)},
    "date": lambda p, v, d: {"y": [v.year, v.month, v.day]},
    "datetime": lambda p, v, d: {"M": _pack_moment(v)},
    "time": lambda p, v, d: {"m": _pack_moment(v)},
    "timedelta": lambda p, v, d: {"l": [v.days, v.seconds, v.microseconds]},
}


MUTABLE_TAGS = "dsSBCoDq"


def forbid(tag: str, _: Any) -> Any:
    """Be the `other` of a side that accepts plain values only."""
    raise Malformed(f"tag {tag!r} may not stand here")


def unpack(
    data: Any,
    other: Unknown = forbid,
    *,
    hashed: int = MAX_PACKED,
    numpy: bool = False,
    containers: list[Any] | None = None,
) -> Any:
    """Return the value that `data` stands for, or raise Malformed.

    `hashed` bounds how many keys and elements other than strings may be hashed: integers whose
    hashes collide can be chosen freely, and looking them up takes time that is quadratic.
    `containers` collects the mutable ones, numbered as `pack` numbers them.
    """
    try:
        reader = _Unpacker(other, hashed=hashed, numpy=numpy, containers=containers)
        return reader.value(data, 2 * MAX_DEPTH)
    except Malformed:
        raise
    except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError) as error:
        raise Malformed(f"{type(error).__name__}: {error}") from None


class _Unpacker:
    def __init__(
        self, other: Unknown, *, hashed: int, numpy: bool, containers: list[Any] | None
    ) -> None:
        self.other = other
        self._hashed = hashed
        self.numpy = numpy
        self._containers = containers

    def value(self, data: Any, depth: int) -> Any:
        kind = type(data)
        if kind is not list and kind is not dict:
            return data
        if depth == 0:
            raise Malformed("nested too deep")
        if kind is list:
            return self._collected(self.all, data, depth - 1)
        if len(data) != 1:
            raise Malformed("not a tagged value")
        ((tag, content),) = data.items()
        if tag == "@" and self._containers is not None:
            return self._containers[content]
        reader = _UNPACKERS.get(tag)
        if reader is None:
            return self.other(tag, content)
        if tag in MUTABLE_TAGS:
            return self._collected(lambda c, d: reader(self, c, d), content, depth - 1)
        return reader(self, content, depth - 1)

    def _collected(self, read: Callable[[Any, int], Any], content: Any, depth: int) -> Any:
        """Read a mutable container; its number precedes those of the containers inside it."""
        if self._containers is None:
            return read(content, depth)
        index = len(self._containers)
        self._containers.append(None)
        self._containers[index] = value = read(content, depth)
        return value

    def all(self, data: Any, depth: int) -> list[Any]:
        if type(data) is not list:
            raise Malformed("not a list")
        if not {list, dict} & set(map(type, data)):
            return data
        return [self.value(item, depth) for item in data]

    def elements(self, data: Any, depth: int) -> list[Any]:
        items = self.all(data, depth)
        self._hashed -= sum(type(item) is not str for item in items)
        if self._hashed < 0:
            raise TooLarge("more keys and elements than may be hashed here")
        return items

    def pairs(self, data: Any, depth: int) -> list[tuple[Any, Any]]:
        keys = self.elements([key for key, _ in data], depth)
        return list(zip(keys, self.all([value for _, value in data], depth), strict=True))


def _text(data: Any) -> str:
    if type(data) is not str:
        raise Malformed("not a string")
    return data


def _number(data: Any) -> Any:
    if type(data) not in (int, float):
        raise Malformed("not a number")
    return data


def _integer(data: Any) -> int:
    if len(_text(data)) > MAX_INT_DIGITS:
        raise Malformed("an integer with too many digits")
    return int(data, 16)


def _fraction(reader: _Unpacker, data: Any, depth: int) -> Any:
    numerator, denominator = reader.all(data, depth)
    if max(abs(numerator), abs(denominator)).bit_length() > 4 * MAX_FRACTION_DIGITS:
        raise Malformed("a fraction with too many digits")
    return standard_type("Fraction")(numerator, denominator)


def _moment(data: Any, kind: str) -> Any:
    *parts, fold, offset = data
    zone = None
    if offset is not None:
        delta = standard_type("timedelta")(microseconds=_number(offset))
        zone = import_module("datetime").timezone(delta)
    return standard_type(kind)(*parts, tzinfo=zone, fold=fold)


_UNPACKERS: dict[str, Callable[[_Unpacker, Any, int], Any]] = {
    "i": lambda r, x, d: _integer(x),
    "t": lambda r, x, d: tuple(r.all(x, d)),
    "d": lambda r, x, d: dict(r.pairs(x, d)),
    "s": lambda r, x, d: set(r.elements(x, d)),
    "S": lambda r, x, d: literal_set(r.elements(x, d)),
    "F": lambda r, x, d: frozenset(r.elements(x, d)),
    "b": lambda r, x, d: bytes.fromhex(_text(x)),
    "B": lambda r, x, d: bytearray.fromhex(_text(x)),
    "c": lambda r, x, d: complex(_number(x[0]), _number(x[1])),
    "r": lambda r, x, d: range(*r.all(x, d)),
    "C": lambda r, x, d: standard_type("Counter")(dict(r.pairs(x, d))),
    "o": lambda r, x, d: OrderedDict(r.pairs(x, d)),
    "D": lambda r, x, d: defaultdict(
        None if x[0] is None else standard_type(_text(x[0])), r.pairs(x[1], d)
    ),
    "q": lambda r, x, d: deque(r.all(x[0], d), x[1]),
    "n": lambda r, x, d: standard_type("Decimal")(_text(x)),
    "/": _fraction,
    "y": lambda r, x, d: standard_type("date")(*x),
    "M": lambda r, x, d: _moment(x, "datetime"),
    "m": lambda r, x, d: _moment(x, "time"),
    "l": lambda r, x, d: standard_type("timedelta")(*map(_number, x)),
    "e": lambda r, x, d: ...,
    "K": lambda r, x, d: dict.fromkeys(r.elements(x, d)).keys(),
    "I": lambda r, x, d: dict(r.pairs(x, d)).items(),
    "T": lambda r, x, d: standard_type(_text(x)),
    "a": lambda r, x, d: unpack_array(x, r.other, numpy=r.numpy),
}
