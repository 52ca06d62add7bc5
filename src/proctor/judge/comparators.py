"""Comparator profiles: when what a candidate gave counts as what was expected.

| profile           | text (standard output)                         | values (of calls)           |
|-------------------|------------------------------------------------|-----------------------------|
| `exact`           | the same characters, the last newline included | equal                       |
| `tiered`          | the same tokens, so whitespace is free; or as  | equal                       |
|                   | many tokens, all numbers, each within 1e-3     |                             |
| `validator`       | two numbers, within 1e-4; else the same but    | equal, floats within 1e-4   |
|                   | for whitespace at the very end                 |                             |
| `float(abs, rel)` | as many tokens, each the same, or two numbers  | equal, floats within        |
|                   | within max(abs, rel x expected), the tolerance | max(abs, rel x expected)    |
|                   | only where one has a point or an exponent      |                             |
| `lcb`             | as many lines, each the same but for spaces    | equal                       |
|                   | around it, or as many tokens, all numbers,     |                             |
|                   | each equal                                     |                             |
| `verl`            | as `tiered`                                    | equal; an expected `[x]`    |
|                   |                                                | takes `x`, too              |
| `unordered_lines` | the same lines in any order; spaces between    | equal, the elements of a    |
|                   | tokens and blank lines are free                | list in any order           |
| `sorted_tokens`   | the same tokens in any order                   | likewise                    |
| `evalplus(abs)`   | as `exact`                                     | equal and of one type,      |
|                   |                                                | floats within               |
|                   |                                                | abs + 1e-7 x expected       |

What fits none of them is for a checker, see `checker.py`.

*Tokens* are what whitespace separates. Their equality follows from that of the trimmed texts and
of the trimmed lines, so the first tiers of `tiered` need no code of their own.

*Numbers* in text are decimal and ASCII: `7`, `-0.5`, `.5`, `1e-3`, with at most three digits of
exponent. They are subtracted exactly, so 10000000000000000 and 10000000000000001 differ.
`nan`, `inf`, `1_000`, `0x10` and digits of other scripts are words, and words must be spelt alike.

*Equal* values are equal in Python, with two differences. Tuples and lists are alike, at any depth,
because JSON knows only one of them. A dict whose expected keys are all integers written as strings
may have the integers instead, all or none, because JSON cannot have them. No profile here takes a
set for a list, an array for anything, or text in another case; only `verl` takes `x` for `[x]`.

In `evalplus` values are what a reference computed and not what JSON made of them. So tuples are no
lists there and keys are what they are; and only where a float is expected there is a tolerance,
of 1e-6 unless said otherwise.

*Floats* have a tolerance where both values are real numbers, neither is a bool and at least one
is a float; never as keys or in sets. NaN equals NaN in `validator`, `float` and `evalplus`, which
compare what was computed, and not in the others, which compare as Python does.

What was got is hostile: everything here takes linear time, or that of sorting, and values may be
nested to any depth.
"""

import cmath
import math
import operator
import re
from collections import deque
from collections.abc import Callable, Iterator
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import partial
from numbers import Rational, Real
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.judge.unordered import same_elements, same_lines, same_tokens

TIERED_TOLERANCE = Decimal("1e-3")
VALIDATOR_TOLERANCE = Decimal("1e-4")

Close = Callable[[Any, Any], bool]


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """A named rule for both kinds of output."""

    name: str
    """As `profile` would take it, parameters included."""
    text: Callable[[str, str], bool]
    """Whether standard output, the second argument, is as expected."""
    value: Callable[[Any, Any], bool]
    """Whether the value of a call, the second argument, is as expected."""


def parse_profile(compare: str | None, *, default: str) -> Profile:
    """Return the profile that `compare` names, or the default if it names none."""
    wanted = default if compare is None else compare.strip()
    if wanted in PROFILES:
        return PROFILES[wanted]
    call = re.fullmatch(r"(float|evalplus)(?:\((.*)\))?", wanted)
    try:
        if call:
            make = {"float": _float_profile, "evalplus": _evalplus_profile}[call[1]]
            return make(call[2] or "")
    except ValueError as error:
        raise InputError(f"compare {wanted!r}: {error}; known are {KNOWN}") from None
    raise InputError(f"compare {wanted!r}: no such profile; known are {KNOWN}")


def _tolerances(arguments: str) -> tuple[float, float]:
    """Parse `1e-6, 1e-9` or `abs=1e-6`; with nothing given both are 1e-6, else the rest is 0."""
    if not arguments.strip():
        return 1e-6, 1e-6
    given: dict[str, float] = {}
    for place, argument in enumerate(arguments.split(",")):
        name, _, number = argument.rpartition("=")
        name = name.strip() or ("abs", "rel", "")[min(place, 2)]
        if name not in ("abs", "rel") or name in given:
            raise ValueError("give abs and rel, each once")
        given[name] = float(number)
    absolute, relative = given.get("abs", 0.0), given.get("rel", 0.0)
    if not (0 <= absolute < math.inf and 0 <= relative < 1):
        raise ValueError("abs must be a finite number from 0 up, rel from 0 to less than 1")
    return absolute, relative


def _float_profile(arguments: str) -> Profile:
    absolute, relative = _tolerances(arguments)
    return Profile(
        name=f"float({absolute!r}, {relative!r})",
        text=partial(_float_text, absolute=absolute, relative=relative),
        value=partial(equal, close=partial(_close, absolute=absolute, relative=relative)),
    )


def _evalplus_profile(arguments: str) -> Profile:
    absolute, relative = _tolerances(arguments.strip() or "1e-6")
    if relative:
        raise ValueError("evalplus takes abs alone")
    return Profile(
        name=f"evalplus({absolute!r})",
        text=operator.eq,
        value=partial(equal, close=partial(_close_to_float, absolute=absolute), strict=True),
    )


def _tiered_text(expected: str, got: str) -> bool:
    wanted, given = expected.split(), got.split()
    if wanted == given:
        return True
    pairs = zip(wanted, given, strict=False)
    return len(wanted) == len(given) and all(_near(*pair, TIERED_TOLERANCE) for pair in pairs)


def _validator_text(expected: str, got: str) -> bool:
    if _NUMBER.fullmatch(expected.strip()) and _NUMBER.fullmatch(got.strip()):
        return _near(expected.strip(), got.strip(), VALIDATOR_TOLERANCE)
    return expected.rstrip() == got.rstrip()


def _lcb_text(expected: str, got: str) -> bool:
    wanted, given = expected.strip().split("\n"), got.strip().split("\n")
    pairs = zip(wanted, given, strict=False)
    return len(wanted) == len(given) and all(_same_line(*pair) for pair in pairs)


def _same_line(expected: str, got: str) -> bool:
    if expected.strip() == got.strip():
        return True
    wanted, given = expected.split(), got.split()
    pairs = zip(wanted, given, strict=False)
    return len(wanted) == len(given) and all(_near(*pair) for pair in pairs)


def _float_text(expected: str, got: str, *, absolute: float, relative: float) -> bool:
    wanted, given = expected.split(), got.split()
    pairs = zip(wanted, given, strict=False)
    # By way of repr, so that a tolerance of 0.1 is a tenth and not the double next to it.
    tolerances = Decimal(repr(absolute)), Decimal(repr(relative))
    return len(wanted) == len(given) and all(
        this == that or _near(this, that, *(tolerances if _inexact(this + that) else ()))
        for this, that in pairs
    )


_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)

# Rounds a difference once, after it was taken exactly; whatever the caller's context is.
_CONTEXT = Context(prec=50, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])


def _near(
    expected: str, got: str, absolute: Decimal = Decimal(0), relative: Decimal = Decimal(0)
) -> bool:
    """Tell whether both tokens are numbers, and within the tolerance."""
    if not (_NUMBER.fullmatch(expected) and _NUMBER.fullmatch(got)):
        return False
    wanted, given = Decimal(expected), Decimal(got)
    tolerance = max(absolute, _CONTEXT.multiply(relative, wanted.copy_abs()))
    return _CONTEXT.subtract(wanted, given).copy_abs() <= tolerance


def _inexact(tokens: str) -> bool:
    return not set(".eE").isdisjoint(tokens)


def equal(expected: Any, got: Any, *, close: Close | None = None, strict: bool = False) -> bool:
    """Tell whether two plain values are equal as calls count it, unequal leaves by `close`.

    Those that are `strict` lost nothing to JSON: tuples are no lists, and keys are what they are.
    """
    try:
        return _equal(expected, got, close, strict=strict)
    except (ArithmeticError, ValueError, TypeError, RecursionError):
        # Signalling NaNs, arrays and deep elements of sets raise instead of answering.
        return False


# Python itself compares unequal deques twice on every level.
SEQUENCES: tuple[Any, ...] = ((list, tuple), deque)
STRICT: tuple[Any, ...] = (list, tuple, deque)


def _equal(expected: Any, got: Any, close: Close | None, *, strict: bool) -> bool:
    """Walk both values side by side, without recursion and no pair of containers twice."""
    alike = STRICT if strict else SEQUENCES
    pending = [iter([(expected, got)])]
    seen: set[tuple[int, int]] = set()
    while pending:
        pair = next(pending[-1], None)
        if pair is None:
            pending.pop()
            continue
        wanted, given = pair
        inner: Iterator[tuple[Any, Any]] | None = None
        if any(isinstance(wanted, kind) and isinstance(given, kind) for kind in alike):
            inner = zip(wanted, given, strict=True) if len(wanted) == len(given) else None
        elif isinstance(wanted, dict) and isinstance(given, dict):
            inner = _by_key(wanted, given, strict=strict)
        elif _same(wanted, given) or (close is not None and close(wanted, given)):
            continue
        if inner is None:
            return False
        if (id(wanted), id(given)) not in seen:
            seen.add((id(wanted), id(given)))
            pending.append(inner)
    return True


_INTEGER = re.compile(r"0|-?[1-9]\d{0,99}", re.ASCII)


def _by_key(
    expected: dict[Any, Any], got: dict[Any, Any], *, strict: bool
) -> Iterator[tuple[Any, Any]] | None:
    """Pair the values of equal keys, as written or as integers; None if the keys differ."""
    if len(expected) != len(got):
        return None
    keys = list(expected)
    spelt = all(isinstance(key, str) and _INTEGER.fullmatch(key) for key in keys)
    if spelt and not strict and not any(key in got for key in keys):
        keys = [int(key) for key in keys]
    if not all(key in got for key in keys):
        return None
    return zip(expected.values(), map(got.__getitem__, keys), strict=True)


def _same(expected: Any, got: Any) -> bool:
    answer = expected == got
    # An array answers for each element; numpy's own booleans have no dimensions.
    return not getattr(answer, "shape", ()) and bool(answer)


def _close(expected: Any, got: Any, *, absolute: float, relative: float) -> bool:
    """Tell whether two real numbers, a float among them, are within the tolerance."""
    if isinstance(expected, bool) or isinstance(got, bool):
        return False
    if not (isinstance(expected, Real) and isinstance(got, Real)):
        return False
    if isinstance(expected, Rational) and isinstance(got, Rational):
        return False
    wanted, given = float(expected), float(got)
    if not (math.isfinite(wanted) and math.isfinite(given)):
        return math.isnan(wanted) and math.isnan(given)
    return abs(wanted - given) <= max(absolute, relative * abs(wanted))


def _close_to_float(expected: Any, got: Any, *, absolute: float) -> bool:
    """Tell whether a number is close to a float, or a complex number, that is expected."""
    if isinstance(got, bool) or not isinstance(expected, float | complex):
        return False
    if not isinstance(got, int | float | complex):
        return False
    if cmath.isnan(expected) or not cmath.isfinite(expected):
        return cmath.isnan(expected) and cmath.isnan(got)
    return abs(got - expected) <= absolute + 1e-7 * abs(expected)


def _perhaps_wrapped(expected: Any, got: Any) -> bool:
    """Tell whether values are equal where rows wrap what a call returns in a list of its own."""
    wrapped = isinstance(expected, list) and len(expected) == 1
    return equal(expected, got) or (wrapped and equal(expected[0], got))


def _unordered(expected: Any, got: Any) -> bool:
    """Take the elements of the outermost list in any order."""
    return equal(expected, got) or same_elements(expected, got)


PROFILES: dict[str, Profile] = {
    rule.name: rule
    for rule in (
        Profile(name="exact", text=operator.eq, value=equal),
        Profile(name="tiered", text=_tiered_text, value=equal),
        Profile(
            name="validator",
            text=_validator_text,
            value=partial(
                equal, close=partial(_close, absolute=float(VALIDATOR_TOLERANCE), relative=0.0)
            ),
        ),
        Profile(name="lcb", text=_lcb_text, value=equal),
        Profile(name="verl", text=_tiered_text, value=_perhaps_wrapped),
        Profile(name="unordered_lines", text=same_lines, value=_unordered),
        Profile(name="sorted_tokens", text=same_tokens, value=_unordered),
    )
}
"""The profiles without parameters, by name."""

KNOWN = ", ".join([*PROFILES, "float(abs, rel)", "evalplus(abs)"])
