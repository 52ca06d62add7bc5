"""Unit tests that share a process with the candidate: unittest classes, or functions as pytest has.

Every test that the file declares has a number, in the order of the text; each must be seen to run,
and a skipped one has not passed. A counterfactual run replaces the entry point by one that gives
changed values, or nothing: tests that pass even then do not look at what the candidate does.
"""

import ast
import builtins
import sys
import types
import unittest
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ..protocol.frames import Malformed, TooLarge
from ..protocol.values import CannotCross, pack, unpack
from .candidate import MODULE
from .examiner import Examination, Unfit

HEAP_TYPE = 1 << 9
"""Flag of classes that are made while a program runs."""


def machinery() -> dict[str, Any]:
    """Return the parts of Python that decide whether a test passes."""
    parts: dict[str, Any] = {f"builtins.{name}": part for name, part in vars(builtins).items()}
    for kind in (unittest.TestCase, unittest.TestResult, unittest.TestLoader, unittest.TestSuite):
        parts |= {f"{kind.__name__}.{name}": part for name, part in vars(kind).items()}
    parts["unittest"] = sys.modules.get("unittest")  # what the test file will import
    parts.pop("builtins._", None)
    return parts


def declared_tests(tree: ast.Module) -> list[str]:
    """Return the names of all tests of a file, as `Class.method` or `function`."""
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            names.append(node.name)
        elif isinstance(node, ast.ClassDef):
            names += [
                f"{node.name}.{method.name}"
                for method in node.body
                if isinstance(method, ast.FunctionDef) and method.name.startswith("test")
            ]
    return names


class UnitTests:
    """The unit tests of a task, compiled."""

    def __init__(self, order: dict[str, Any]) -> None:
        try:
            tree = ast.parse(order["code"])
            self._setup = compile(order["setup"], "<setup>", "exec")
            self._code = compile(tree, "<tests>", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Unfit(f"the tests cannot be compiled: {error}") from None
        self._machinery = machinery()
        self._numbers = {name: index for index, name in enumerate(declared_tests(tree))}
        self._entry_point = (order["entry_points"] or [""])[0]
        self._counterfactual = COUNTERFACTUALS[order["counterfactual"]]

    def prepare(self, names: dict[str, Any]) -> None:
        """Unit tests bring all they need."""

    def run(self, names: dict[str, Any], examination: Examination) -> BaseException | None:
        """Run all tests and report every result; return what kept them from running."""
        try:
            self._check_machinery()
            exec(self._setup, names)
            if self._counterfactual and self._entry_point in names:
                names[self._entry_point] = self._counterfactual(names[self._entry_point])
            before = dict(names)
            exec(self._code, names)
            recorder = Recorder(self._numbers, examination)
            for name, value in list(names.items()):
                if before.get(name) is not value:
                    self._run_one(name, value, recorder)
            self._check_machinery()
        except (SystemExit, Malformed):
            raise
        except BaseException as error:
            return error
        return None

    def _check_machinery(self) -> None:
        """Refuse to go on with test machinery that is not what it was before the candidate."""
        now = machinery()
        for name, value in self._machinery.items():
            if now.get(name) is not value:
                raise Malformed(f"{name} was replaced")

    def _run_one(self, name: str, value: Any, recorder: "Recorder") -> None:
        if isinstance(value, types.FunctionType) and name in self._numbers:
            recorder.attempt(name, value)
        elif isinstance(value, type) and issubclass(value, unittest.TestCase):
            unittest.defaultTestLoader.loadTestsFromTestCase(value).run(recorder)
        elif isinstance(value, type):
            for method in self._methods(name):
                recorder.attempt(f"{name}.{method}", partial(_call_method, value, method))

    def _methods(self, class_name: str) -> Iterator[str]:
        for name in self._numbers:
            owner, _, method = name.partition(".")
            if owner == class_name and method:
                yield method


def _call_method(kind: type, method: str) -> None:
    instance = kind()
    for name in ("setup_method", "setUp"):
        if hasattr(instance, name):
            getattr(instance, name)()
    getattr(instance, method)()


class Recorder(unittest.TestResult):
    """Reports the results of unit tests as they come."""

    def __init__(self, numbers: dict[str, int], examination: Examination) -> None:
        super().__init__()
        self._numbers = numbers
        self._examination = examination

    def attempt(self, name: str, test: Callable[[], Any]) -> None:
        """Run one test function."""
        try:
            test()
        except Exception as error:
            self._fail(name, error)
        else:
            self._report(name, why="passed", detail="")

    def addSuccess(self, test: unittest.TestCase) -> None:
        self._report(_name(test), why="passed", detail="")

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        self._fail(_name(test), err[1])

    addError = addFailure

    def addSubTest(self, test: unittest.TestCase, subtest: Any, err: Any) -> None:
        if err is not None:
            self._fail(_name(test), err[1])

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self._report(_name(test), why="wrong", detail=f"skipped: {reason}")

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        self._report(_name(test), why="passed", detail="")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        self._report(_name(test), why="wrong", detail="passed although it should not")

    def _fail(self, name: str, error: BaseException) -> None:
        self._report(name, **self._examination.blame(error))

    def _report(self, name: str, **result: Any) -> None:
        if name in self._numbers:
            self._examination.report(self._numbers[name], **result)
        elif result["why"] != "passed":  # setUpClass of a class failed: so have its tests
            for test, number in self._numbers.items():
                if test.startswith(name.partition("(")[2].rstrip(")").rpartition(".")[2] + "."):
                    self._examination.report(number, **result)


def _name(test: Any) -> str:
    method = getattr(test, "_testMethodName", None)
    return str(test) if method is None else f"{type(test).__name__}.{method}"


def _changed(value: Any) -> Any:
    """Return another value of the same type, where there is an obvious one."""
    match value:
        case bool():
            return not value
        case int() | float() | complex():
            return value + 1
        case str():
            return value + "?"
        case bytes():
            return value + b"?"
        case list():
            return [*value, None]
        case tuple():
            return (*value, None)
        case dict():
            return {**value, "?": None}
        case set() | frozenset():
            return type(value)([*value, "?"])
        case None:
            return 0
    return None


def _with_changed_values(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: _changed(function(*args, **kwargs))


def _with_plain_values(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: _laundered(function(*args, **kwargs))


def _laundered(value: Any) -> Any:
    """Return a value with every subclass of a plain type, and its lies, taken off.

    An object of a class that the candidate may have defined is replaced by one that equals nothing.
    """
    kept: list[Any] = []

    def keep(other: Any) -> Any:
        kept.append(object() if _may_lie(type(other)) else other)
        return {"kept": len(kept) - 1}

    try:
        packed = pack(value, keep)
    except (TooLarge, CannotCross):
        return value
    return unpack(packed, lambda _, index: kept[index], numpy=True)


def _may_lie(kind: type) -> bool:
    """Say whether a class may be the candidate's, whatever it says of itself, or equals all."""
    if not kind.__flags__ & HEAP_TYPE:
        return False  # part of the interpreter
    module = sys.modules.get(kind.__module__)
    known = getattr(module, kind.__name__, None) is kind
    return not known or kind.__module__ == MODULE or kind.__name__ == "_ANY"


def _with_nothing(_: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: None


COUNTERFACTUALS: dict[str, Callable[[Any], Any] | None] = {
    "": None,
    "changed": _with_changed_values,
    "nothing": _with_nothing,
    "plain": _with_plain_values,
}
