"""Tests that are nothing but `call == literal`, or near a number, found by their syntax tree.

Such tests need no examiner: the supervisor sends the calls and compares the answers itself, with
the same meaning that the test code has. Nothing of a benchmark is ever evaluated here; literals
are read by `ast.literal_eval` and a small, bounded folding of constant arithmetic. Everything
that does not fit is None, and the examiner's to run.
"""

import ast
import builtins
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from proctor.extraction.python.syntax import parse
from proctor.records.task import Assertions, CheckFunction, Task
from proctor.sandbox.inside.protocol.values import literal_set

Relation = Literal["equals", "is", "true", "false", "near", "within"]

MAX_FOLDED = 10_000
MAX_POWER = 64
_FOLDS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_EMPTY = {"set": set, "list": list, "tuple": tuple, "dict": dict, "frozenset": frozenset}


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One call and what is asserted of its value."""

    index: int
    target: str
    """The function, as the candidate's program names it."""
    args: Sequence[Any]
    kwargs: dict[str, Any]
    relation: Relation = "equals"
    expected: Any = None
    tolerance: float = 0.0
    """How far from the expected number it may be: less than that, or `within` so much."""


class NotPlainError(Exception):
    """The test does more than compare calls with literals."""


def reduce_to_cases(task: Task) -> Sequence[Case] | None:
    """Return the task's tests as cases, or None if an examiner has to run them."""
    try:
        match task.tests:
            case Assertions(targets=targets, setup="", compare=None):
                names = {task.entry_point} if task.entry_point else None
                return [
                    _case(index, _assertion(target), names, None)
                    for index, target in enumerate(targets)
                ]
            case CheckFunction(code=code, setup="", compare=None) if task.entry_point:
                return _check_cases(parse(code), task.entry_point)
    except (NotPlainError, RecursionError, TypeError):  # unhashable keys are the test's trouble
        pass
    return None


def _assertion(target: str) -> ast.expr:
    match parse(target.strip()):
        case ast.Module(body=[ast.Assert(test=test)]):
            return test
        case ast.Module(body=[ast.Expr(value=test)]):
            return test
    raise NotPlainError


def _check_cases(tree: ast.Module | None, entry_point: str) -> Sequence[Case]:
    """Read `check(candidate)`: asserts and what has no effect on them."""
    check = None
    if tree is None:
        raise NotPlainError
    for node in tree.body:
        match node:
            case ast.FunctionDef(name="check", args=ast.arguments(args=[_])) if check is None:
                check = node
            case ast.Assign(targets=[ast.Name(id="METADATA")]) | ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=ast.Call(func=ast.Name(id="check"), args=[ast.Name(id=name)])):
                if name != entry_point:
                    raise NotPlainError
            case _:
                raise NotPlainError
    if check is None:
        raise NotPlainError
    names = {check.args.args[0].arg, entry_point}
    return [
        _case(index, test, names, entry_point) for index, test in enumerate(_asserts(check.body))
    ]


def _asserts(body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    for node in body:
        match node:
            case ast.Assert(test=ast.Constant(value=value)) if value:
                pass  # `assert True` is not a test
            case ast.Assert(test=test):
                yield test
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=ast.Name(id=name)) if hasattr(builtins, name):
                pass  # a `print` that nobody called
            case _:
                raise NotPlainError


def _case(index: int, test: ast.expr, names: set[str] | None, target: str | None) -> Case:
    claim = _claim(test, names)
    match claim.call:
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            if not _is_candidates(name, names):
                raise NotPlainError
        case _:
            raise NotPlainError
    if any(keyword.arg is None for keyword in keywords):
        raise NotPlainError
    return Case(
        index=index,
        target=target or name,
        args=[constant_value(argument) for argument in args],
        kwargs={str(keyword.arg): constant_value(keyword.value) for keyword in keywords},
        relation=claim.relation,
        expected=claim.expected,
        tolerance=claim.tolerance,
    )


class _Claim(NamedTuple):
    """What a test says of a call."""

    call: ast.expr
    relation: Relation
    expected: Any = None
    tolerance: float = 0.0


def _claim(test: ast.expr, names: set[str] | None) -> _Claim:
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return _Claim(left, "equals", constant_value(right))
        case ast.Compare(left=left, ops=[ast.Is()], comparators=[ast.Constant(value=value)]):
            if value is None or isinstance(value, bool):
                return _Claim(left, "is", value)
        case ast.Compare(left=ast.Call(ast.Name("abs"), [ast.BinOp(left, ast.Sub(), right)], [])):
            if not _is_candidates("abs", names):
                return _Claim(left, *_closeness(test, right))
        case ast.UnaryOp(op=ast.Not(), operand=call):
            return _Claim(call, "false")
        case ast.Call():
            return _Claim(test, "true")
    raise NotPlainError


def _closeness(test: ast.Compare, expected: ast.expr) -> tuple[Relation, float, float]:
    match test:
        case ast.Compare(ops=[ast.Lt()], comparators=[most]):
            return "near", _number(expected), _number(most)
        case ast.Compare(ops=[ast.LtE()], comparators=[most]):
            return "within", _number(expected), _number(most)
    raise NotPlainError


def _number(node: ast.expr) -> float:
    number = constant_value(node)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise NotPlainError
    return number


def _is_candidates(name: str, names: set[str] | None) -> bool:
    """Say whether a test means the candidate by this name; without one, not by a builtin's."""
    return name in names if names is not None else not hasattr(builtins, name)


def constant_value(node: ast.expr) -> Any:
    """Return the value of a literal, or of bounded arithmetic over literals."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]) if name in _EMPTY:
            return _EMPTY[name]()
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _FOLDS:
            return _fold(_FOLDS[type(op)], constant_value(left), constant_value(right))
        case ast.List(elts=items):
            return [constant_value(item) for item in items]
        case ast.Tuple(elts=items):
            return tuple(constant_value(item) for item in items)
        case ast.Set(elts=items):
            return literal_set(constant_value(item) for item in items)
        case ast.Dict(keys=keys, values=values) if None not in keys:
            pairs = zip(keys, values, strict=True)
            return {
                constant_value(key): constant_value(value)
                for key, value in pairs
                if key is not None
            }
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        raise NotPlainError from None


def _fold(fold: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Fold only what stays small whatever the operands are."""
    for side in (left, right):
        size = len(side) if isinstance(side, (str, list, tuple)) else 0
        number = abs(side) if isinstance(side, (int, float)) else 0
        if size > MAX_FOLDED or number > 1 << 64:
            raise NotPlainError
    if fold is operator.pow and not (isinstance(right, int) and 0 <= right <= MAX_POWER):
        raise NotPlainError
    sized = [side for side in (left, right) if not isinstance(side, (int, float))]
    counts = [side for side in (left, right) if isinstance(side, int)]
    if sized and counts and len(sized[0]) * counts[0] > MAX_FOLDED:
        raise NotPlainError
    try:
        return fold(left, right)
    except (TypeError, ArithmeticError) as error:
        raise NotPlainError from error
