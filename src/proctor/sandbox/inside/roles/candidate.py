"""The candidate's side of the border: load a program, answer calls. Hostile from `load` on.

Nothing here decides anything: whatever the candidate does to this process, all it can do is
send other bytes, and those are parsed as plain values by somebody who has the tests.
"""

import builtins
import os
import sys
import types
from collections.abc import Callable
from marshal import dumps
from typing import Any

try:
    from _blake2 import blake2b  # hashlib loads OpenSSL, which every guest would have to carry
except ImportError:
    from hashlib import blake2b

from ..protocol import frames
from ..protocol.exceptions import StandInClasses, describe_class
from ..protocol.frames import Channel, Frame, Malformed, TooLarge, dump, load
from ..protocol.values import CannotCross, pack, pack_contents, refuse_handle, unpack
from . import import_denylist

globals()["__builtins__"] = vars(builtins).copy()  # a candidate may patch its own only

MODULE, FILE = "solution", "solution.py"
MAX_NESTING = 50
MAX_TEXT = 1024

_BINARY = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "or", "xor"),
)
ABILITIES = (
    *("__call__", "__iter__", "__next__", "__reversed__", "__len__", "__contains__"),
    *("__getitem__", "__setitem__", "__delitem__", "__bool__", "__enter__", "__exit__"),
    *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"),
    *("__neg__", "__pos__", "__abs__", "__invert__", "__int__", "__float__", "__index__"),
    *("__complex__", "__round__", "__str__", "__repr__"),
    *(f"__{prefix}{name}__" for name in _BINARY for prefix in ("", "r", "i")),
)
"""Special methods that an object of the candidate may have on the other side."""

OPERATIONS: dict[str, Callable[..., Any]] = {
    "attr": getattr,
    "setattr": setattr,
    "delattr": delattr,
    "isinstance": isinstance,
    "issubclass": issubclass,
}


class Candidate:
    """One loaded program and the objects of it that the other side holds handles to."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._names: dict[str, Any] = {}
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._stubs: dict[int, Callable[..., Any]] = {}
        self._targets: dict[str, Any] = {}
        self._current = 0
        self._nesting = 0

    def serve(self) -> None:
        """Answer requests until the supervisor says that it is over."""
        while (frame := self._channel.receive()) is not None and frame.kind != frames.END:
            if frame.kind == frames.CALLS:
                self._answer_all(frame)
            else:
                self._answer(frame)

    def _answer(self, frame: Frame) -> None:
        outer, self._current = self._current, frame.number
        self._reply(frame.number, self._handle, frame.kind, frame.payload)
        self._current = outer

    def _answer_all(self, frame: Frame) -> None:
        """Answer many calls of one function, numbered from that of the frame."""
        message = load(frame.payload)
        for number, packed in enumerate(message["a"], frame.number):
            self._current = number
            self._reply(number, self._call_one, packed, message)

    def _reply(self, number: int, handle: Callable[..., tuple[int, Any]], *arguments: Any) -> None:
        try:
            kind, message = handle(*arguments)
            data = frames.pack(kind, number, dump(message))
        except TooLarge:
            data = frames.pack(frames.LARGE, number, b"{}")
        except BaseException as error:  # the candidate's, or caused by what it did to us
            kind = frames.EXITED if isinstance(error, SystemExit) else frames.RAISED
            data = frames.pack(kind, number, dump(self._describe(error)))
        self._channel.write(data)

    def _handle(self, kind: int, payload: bytes) -> tuple[int, Any]:
        message = load(payload)
        if kind == frames.LOAD:
            return frames.LOADED, self._load(**message)
        if kind == frames.CALL:
            return frames.VALUE, self._call(message)
        return frames.VALUE, self._operate(message["o"], message["a"])

    def _load(self, source: str, *, denied: bool) -> dict[str, Any]:
        try:
            # Anything that compile raises is the parser refusing the text: SyntaxError, null
            # bytes (ValueError), nesting beyond it (RecursionError, MemoryError).
            code = compile(source, FILE, "exec", dont_inherit=True)
        except BaseException as error:
            return {"stage": "compile", **self._describe(error)}
        module = types.ModuleType(MODULE)
        module.__dict__["__builtins__"] = builtins  # the common ones, not our copy of them
        self._names = module.__dict__
        sys.modules[MODULE] = module
        if denied:
            import_denylist.install(self._names)
        try:
            exec(code, self._names)
        except BaseException as error:
            return {"stage": "run", **self._describe(error)}
        return {"stage": "done"}

    def _describe(self, error: BaseException) -> dict[str, Any]:
        return {**describe_exception(error, self._number), "self": self._number(error)}

    def _call(self, message: Any) -> dict[str, Any]:
        containers: list[Any] = []
        args, pairs = unpack(
            [message["a"], message["k"]], self._unpack_handle, containers=containers
        )
        target = message["f"]
        function = self._find(target) if isinstance(target, str) else self._objects[target]
        if "g" in message:
            function(*args, **dict(pairs))
            return {"v": pack(args[message["g"]], self._pack_handle)}
        if not message["w"]:
            return {"v": pack(function(*args, **dict(pairs)), self._pack_handle)}
        known = {id(container): index for index, container in enumerate(containers)}
        before = [dump(pack_contents(item, self._pack_handle, known)) for item in containers]
        result = pack(function(*args, **dict(pairs)), self._pack_handle, known)
        after = [pack_contents(item, self._pack_handle, known) for item in containers]
        changed = [
            [index, now]
            for index, (was, now) in enumerate(zip(before, after, strict=True))
            if was != dump(now)
        ]
        return {"v": result, "w": changed}

    def _call_one(self, packed: list[Any], batch: dict[str, Any]) -> tuple[int, Any]:
        """Answer with the value, or with its digest if it takes more than `max_bytes` bytes."""
        args = packed if batch["plain"] else unpack(packed)
        result = self._find(batch["f"])(*args)
        digest = None if batch["max_bytes"] is None else digest_of(result, batch["max_bytes"])
        if digest is not None:
            return frames.VALUE, {"d": digest}
        return frames.VALUE, {"v": pack(result, self._pack_handle)}

    def _find(self, target: str) -> Any:
        """Evaluate what a test calls, compiled once: it is called again and again."""
        if target not in self._targets:
            self._targets[target] = compile(target, "<call>", "eval", dont_inherit=True)
        return eval(self._targets[target], self._names)

    def _operate(self, operation: str, packed: Any) -> dict[str, Any]:
        args = unpack(packed, self._unpack_handle)
        if operation == "name":
            found = args[0] in self._names
            return {"v": pack(self._names.get(args[0]), self._pack_handle), "found": found}
        if operation in OPERATIONS:
            return {"v": pack(OPERATIONS[operation](*args), self._pack_handle)}
        if operation not in ABILITIES:
            raise Malformed(operation)
        result = getattr(type(args[0]), operation)(*args)
        if result is NotImplemented:
            return {"v": None, "not": True}
        return {"v": pack(result, self._pack_handle)}

    def _number(self, value: Any) -> int:
        """Keep an object and return its number: the same object, the same number."""
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return number

    def _pack_handle(self, value: Any) -> Any:
        kind = type(value)
        number = self._number(value)
        if isinstance(value, type) and issubclass(value, BaseException):
            return {"x": describe_class(value, self._number)}
        defined = {name for base in kind.__mro__[:-1] for name in vars(base)}
        abilities = [name for name in ABILITIES if name in defined]
        return {"h": [number, f"{kind.__module__}.{kind.__name__}"[:200], abilities]}

    def _unpack_handle(self, tag: str, content: Any) -> Any:
        if tag == "H":
            return self._objects[content]
        if tag == "k":
            if content not in self._stubs:
                self._stubs[content] = self._stub(content)
            return self._stubs[content]
        raise Malformed(tag)

    def _stub(self, callback: int) -> Callable[..., Any]:
        """Make a function that asks the other side to run one of its own."""

        def stub(*args: Any, **kwargs: Any) -> Any:
            if self._nesting >= MAX_NESTING:
                raise RecursionError("callbacks nested too deep")
            values = pack([list(args), list(kwargs.items())], self._pack_handle)
            self._nesting += 1
            try:
                message = dump({"k": callback, "a": values})
                self._channel.write(frames.pack(frames.CALLBACK, self._current, message))
                return self._await_answer()
            finally:
                self._nesting -= 1

        return stub

    def _await_answer(self) -> Any:
        """Wait for a callback's answer and serve requests that come before it."""
        while (frame := self._channel.receive()) is not None:
            if frame.kind == frames.VALUE:
                return unpack(load(frame.payload)["v"], self._unpack_handle)
            if frame.kind == frames.END:
                break
            if frame.kind == frames.RAISED:
                message = load(frame.payload)
                raise StandInClasses().make(message, unpack(message["args"]))
            self._answer(frame)
        os._exit(0)


def digest_of(value: Any, max_bytes: int) -> str | None:
    """Return the digest of a plain value that takes more than so many bytes.

    Nobody can name the digest of the right answer without having it. Values with one digest are
    the same; those with different ones may be equal all the same, as 1 and 1.0 are.
    """
    try:
        data = dumps(value, MARSHAL)
    except ValueError:  # not plain, or nested too deep
        return None
    return blake2b(data, digest_size=32).hexdigest() if len(data) > max_bytes else None


MARSHAL = 2
"""The last format whose bytes depend on nothing but the value."""


def answer(channel: Channel) -> None:
    """Be a candidate: load what is to be loaded and answer until it is over."""
    Candidate(channel).serve()


SAMPLE_SOURCE = """
def same(x: list[int]):
    return x

def fail(x):
    raise ValueError(x)
"""
TYPED_SAMPLE_SOURCE = """
from typing import List

def same(x: List[int]) -> List[int]:
    return x
"""
SAMPLE_VALUES = (
    1,
    -2.5,
    "a",
    True,
    None,
    [1, 2.0, "a"],
    (1, [2]),
    {"a": 1, 2: [3]},
    {1, 2},
    [[1], []],
)


def warm_up(null_fd: int) -> None:
    """Do what candidates do, so that those to be forked from here find our code warm.

    An interpreter adapts code to its use by writing into it, and each of them would have to copy
    what it writes to.
    """
    calls = [{"f": "same", "a": [pack(value)], "k": [], "w": False} for value in SAMPLE_VALUES]
    calls.append({"f": "fail", "a": [1], "k": [], "w": False})
    requests = [frames.pack(frames.CALL, index, dump(call)) for index, call in enumerate(calls)]
    requests.append(_batch_request([[pack(value)] for value in SAMPLE_VALUES], plain=False))
    _answer_requests(null_fd, SAMPLE_SOURCE, *requests)


def run_sample_guest(null_fd: int) -> None:
    """Do what most candidates do."""
    source = TYPED_SAMPLE_SOURCE if "typing" in sys.modules else SAMPLE_SOURCE
    _answer_requests(null_fd, source, _batch_request([[1], [2.5], [[1, 2]]], plain=True))


def _batch_request(arguments: list[list[Any]], *, plain: bool) -> bytes:
    message = {"f": "same", "plain": plain, "max_bytes": 1 << 14, "a": arguments}
    return frames.pack(frames.CALLS, 1, dump(message))


def _answer_requests(null_fd: int, source: str, *requests: bytes) -> None:
    load_request = frames.pack(frames.LOAD, 0, dump({"source": source, "denied": False}))
    answer(frames.ScriptedChannel(b"".join((load_request, *requests)), null_fd))
    del sys.modules[MODULE]


def describe_exception(error: BaseException, number: Callable[[Any], int] = id) -> dict[str, Any]:
    """Say what was raised, in plain values; `number` numbers the classes it is of."""
    try:
        args = [pack(arg, refuse_handle) for arg in error.args]
    except (CannotCross, TooLarge):
        args = []
    try:
        text = str(error)[:MAX_TEXT]
    except BaseException:
        text = "(its message cannot be shown)"
    return {
        **describe_class(type(error), number),
        "args": args if len(dump(args)) <= 4 * MAX_TEXT else [],
        "text": text,
        "line": error_line(error),
        "exit": isinstance(error, SystemExit),
        "memory": isinstance(error, MemoryError),
        "denied": isinstance(error, import_denylist.DENIED),
    }


def error_line(error: BaseException) -> int | None:
    """Return the line of the candidate's program that was running last, None if none was."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
