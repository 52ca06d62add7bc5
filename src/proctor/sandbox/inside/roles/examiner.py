"""Runs test code in a process of its own, with stand-ins for the candidate's names.

Every `assert` of the test is one test: it is wrapped so that its result is reported and the
rest still runs. Code of the benchmark runs here, fed with hostile plain values; the supervisor
bounds its time and memory as it bounds the candidate's.
"""

import ast
import builtins
import random
import reprlib
from collections.abc import Collection
from typing import Any, Protocol

from ..protocol import frames
from ..protocol.frames import Channel, Malformed, TooLarge, load
from .proxies import Border, Proxy

MAX_TEXT = 1024


class Stop(BaseException):
    """Enough is known; not even the test's own `except` clauses may catch it."""


class Names(dict[str, Any]):
    """The test's globals: a name it does not have is the candidate's, builtins excepted."""

    def __init__(self, border: Border, entry_points: tuple[str, ...]) -> None:
        super().__init__(__name__="tests", __builtins__=builtins)
        self._border = border
        self._entry_points = entry_points
        self.missing: set[str] = set()

    def __missing__(self, name: str) -> Any:
        # A candidate must not replace `len` or `sorted` under the test, unless the task itself
        # asks for a function of that name.
        if hasattr(builtins, name) and name not in self._entry_points:
            raise KeyError(name)
        try:
            value = self._border.find(name)
        except KeyError:
            self.missing.add(name)
            raise
        if isinstance(value, Proxy):  # plain values may change from call to call
            self[name] = value
        return value


class CandidateErrors(Protocol):
    """Whoever knows what the candidate did."""

    notes: set[str]

    def describe_candidate_error(self, error: BaseException) -> Any:
        """Return what is known of an exception if it is the candidate's, else None."""
        ...


class Examination:
    """The results of one sample's tests, reported as they come."""

    def __init__(
        self,
        channel: Channel,
        candidate_errors: CandidateErrors,
        missing: Collection[str],
        *,
        early_stop: bool,
    ) -> None:
        self._channel = channel
        self._candidate_errors = candidate_errors
        self._missing = missing
        self._early_stop = early_stop
        self._failed: set[int] = set()
        self._passed: set[int] = set()
        self._sides: tuple[str, str] | None = None

    def equal(self, left: Any, right: Any) -> Any:
        """Be `left == right`, and remember both sides if they differ."""
        verdict = left == right
        self._sides = None if verdict else (show(right), show(left))
        return verdict

    def __call__(self, index: int, *, again: bool = False) -> "_Guard":
        """Guard one execution of test `index`, which may be executed `again`."""
        return _Guard(self, index, again=again)

    def record(self, index: int, error: BaseException | None, *, again: bool) -> bool:
        """Report how one execution of test `index` ended; True swallows the error."""
        if isinstance(error, (Stop, SystemExit, Malformed, TooLarge)):
            return False
        sides, self._sides = self._sides, None
        if error is None:
            if again:  # it has passed when all executions have
                self._passed.add(index)
            else:
                self.report(index, why="passed", detail="")
            return True
        if index in self._failed:  # a loop reports its first failure only
            return not self._early_stop
        self._failed.add(index)
        self.report(index, **self.blame(error, sides))
        if self._early_stop:
            raise Stop
        return True

    def blame(self, error: BaseException, sides: tuple[str, str] | None = None) -> dict[str, Any]:
        """Say whose fault an exception is: the candidate raised it, or the test said no."""
        if isinstance(error, NameError) and error.name in self._missing:
            return {"why": "raised", "detail": f"NameError: {error}"[:MAX_TEXT]}
        message = self._candidate_errors.describe_candidate_error(error)
        if message is not None:
            causes = [cause for cause in ("exit", "denied", "memory") if message[cause]]
            why = causes[0] if causes else "raised"
            own = message["own"]
            name = own[0][1] if own else message["standard"]
            line = f" (line {message['line']})" if message["line"] else ""
            return {"why": why, "detail": f"{name}: {message['text']}{line}"[:MAX_TEXT]}
        expected, got = sides or (None, None)
        text = f"{type(error).__name__}: {error}".rstrip(": ")
        return {"why": "wrong", "detail": text[:MAX_TEXT], "expected": expected, "got": got}

    def report(self, index: int, **result: Any) -> None:
        """Send one result."""
        self._channel.send(frames.RESULT, index, result)

    def finish(self, error: BaseException | None, token: str = "") -> None:
        """Report the tests that passed every time, and what ended the test code before its end."""
        for index in sorted(self._passed - self._failed):
            self.report(index, why="passed", detail="")
        ending = None if error is None else self.blame(error)
        notes = sorted(self._candidate_errors.notes)
        message = {"ending": ending, "notes": notes, "token": token}
        self._channel.send(frames.EXAMINED, 0, message)


class _Guard:
    def __init__(self, examination: Examination, index: int, *, again: bool) -> None:
        self._examination = examination
        self._index = index
        self._again = again

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        return self._examination.record(self._index, error, again=self._again)


class Sides(ast.NodeTransformer):
    """Makes `assert left == right` remember both sides if they differ."""

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        match node.test:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                node.test = _call("__proctor__.equal", left, right)
        return node


class Guards(Sides):
    """Wraps every assert in a guard with a number, too."""

    def __init__(self) -> None:
        self.count = 0
        self._loops = 0

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        if isinstance(node.test, ast.Constant) and node.test.value:
            return node  # `assert True` is not a test
        guard = _call("__proctor__", ast.Constant(self.count))
        guard.keywords = [ast.keyword("again", ast.Constant(self._loops > 0))]
        self.count += 1
        body = [super().visit_Assert(node)]
        return ast.copy_location(ast.With([ast.withitem(guard)], body), node)

    def _visit_loop(self, node: ast.AST) -> ast.AST:
        self._loops += 1
        self.generic_visit(node)
        self._loops -= 1
        return node

    visit_For = visit_While = visit_AsyncFor = visit_Lambda = _visit_loop

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        # `check` is called once; what other functions assert may be asserted many times
        return self.generic_visit(node) if node.name == "check" else self._visit_loop(node)


def count_asserts(tree: ast.Module) -> int:
    """Return how many tests a piece of test code declares; the tree is used up."""
    guards = Guards()
    guards.visit(tree)
    return guards.count


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.parse(name, mode="eval").body, list(args), [])


def prepared(code: str, changes: ast.NodeTransformer) -> Any:
    """Compile test code with its asserts changed."""
    return compile(ast.fix_missing_locations(changes.visit(ast.parse(code))), "<tests>", "exec")


def as_statements(target: str) -> str:
    """Return an assertion as statements, whether or not it has the word `assert`."""
    tree = ast.parse(target.strip())
    match tree.body:
        case [*_, ast.Expr() as last]:
            tree.body[-1] = ast.copy_location(ast.Assert(last.value), last)
    return ast.unparse(ast.fix_missing_locations(tree))


class Unfit(Exception):
    """The benchmark's own code does not work."""


class Tests:
    """The test code of a task, compiled."""

    def __init__(self, order: dict[str, Any]) -> None:
        try:
            self._prelude = compile(order["prelude"], "<prompt>", "exec")
            self._setup = compile(order["setup"], "<setup>", "exec")
            self._targets = [
                prepared(as_statements(target), Sides()) for target in order["targets"]
            ]
            self._code = prepared(order["code"], Guards())
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Unfit(f"the tests cannot be compiled: {error}") from None
        self._candidate = order["candidate"]
        self._entry_points = order["entry_points"]

    def prepare(self, names: dict[str, Any]) -> None:
        """Run what the prompt defines: helpers of the test's own, not the candidate's."""
        try:
            exec(self._prelude, names)
        except Exception as error:
            raise Unfit(f"the prompt does not run: {type(error).__name__}: {error}") from None
        for name in self._entry_points:
            names.pop(name, None)  # the stub that the prompt defines is not the candidate

    def run(self, names: dict[str, Any], examination: Examination) -> BaseException | None:
        """Run set-up and tests, report every result, return what ended them before their end."""
        names["__proctor__"] = examination
        try:
            exec(self._setup, names)
            for index, target in enumerate(self._targets):
                with examination(index):
                    exec(target, names)
            exec(self._code, names)
            if self._candidate:
                names["check"](eval(self._candidate, names))
        except Stop:
            return None
        except (Malformed, TooLarge, SystemExit):
            raise
        except BaseException as error:  # the test's own, or the candidate's outside an assert
            return error
        return None


def examine(channel: Channel) -> None:
    """Take one examination from the supervisor and carry it out."""
    frame = channel.receive()
    if frame is None:
        return
    order = load(frame.payload)
    border = Border(channel)
    names = Names(border, tuple(order["entry_points"]))
    random.seed(order["seed"])
    try:
        tests = Tests(order)
        tests.prepare(names)
        examination = Examination(channel, border, names.missing, early_stop=order["early_stop"])
        examination.finish(tests.run(names, examination))
    except Unfit as error:
        channel.send(frames.UNFIT, 0, {"detail": str(error)[:MAX_TEXT]})
    except (Malformed, TooLarge) as error:
        channel.send(frames.BROKEN, 0, {"detail": f"{type(error).__name__}: {error}"[:MAX_TEXT]})


def warm_up(null_fd: int) -> None:
    """Do what examiners do, so that those to be forked from here find our code warm."""
    order = {
        "prelude": "from typing import List\n",
        "setup": "",
        "targets": ["abs(f([1, 2.0])) == 3", "assert f('a') == 'b'"],
        "code": "def check(f):\n    for x in range(2):\n        assert f(x) == x\n",
        "candidate": "f",
        "entry_points": ["f"],
        "early_stop": False,
        "seed": 0,
    }
    function_found = {"v": {"h": [0, "builtins.function", ["__call__"]]}, "found": True}
    answers = [function_found, *({"v": value, "w": []} for value in (-3, "b", 0, 1))]
    requests = [frames.pack(frames.EXAMINE, 0, frames.dump(order))]
    requests += [
        frames.pack(frames.VALUE, index, frames.dump(one)) for index, one in enumerate(answers)
    ]
    examine(frames.ScriptedChannel(b"".join(requests), null_fd))


run_sample_guest = warm_up
"""Do what most examiners do."""

_repr = reprlib.Repr()
_repr.maxlevel, _repr.maxlist, _repr.maxtuple, _repr.maxset, _repr.maxdict = 8, 200, 200, 200, 200
_repr.maxstring, _repr.maxlong, _repr.maxother, _repr.maxdeque = MAX_TEXT, MAX_TEXT, MAX_TEXT, 200


def show(value: Any) -> str:
    """Return a bounded repr of anything."""
    try:
        return _repr.repr(value)[:MAX_TEXT]
    except BaseException as error:
        return f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
