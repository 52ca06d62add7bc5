"""What the test code holds in place of the candidate's objects.

A stand-in has just the special methods that the object's type has, and each of them is a
question to the candidate. Two rules keep a lying object from passing: a stand-in never equals
plain data, and it cannot be ordered against plain data. Two stand-ins are compared by asking
the candidate, and that is noted. So is whatever tells an object what the test may expect of it, as
`answer - 1.0` and `answer.startswith("a")` do: it could answer what the test wants to hear.
"""

import functools
import types
from collections.abc import Callable
from typing import Any

from ..protocol import frames
from ..protocol.exceptions import StandInClasses, describe_class
from ..protocol.frames import Channel, Frame, Malformed, TooLarge, parse
from ..protocol.values import MUTABLE, CannotCross, pack, refuse_handle, type_name, unpack

COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
DECIDING = ("isinstance", "issubclass", "__contains__", *COMPARISONS)
NEUTRAL = ("__getitem__", "__setitem__", "__delitem__", "__round__", "__exit__")
"""Operations whose arguments say nothing of what a test expects."""
FUNCTIONS = (
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial),
    *(types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType),
)

NOTE_OBJECT_DECIDED = "asked"
"""An object of the candidate was asked whether a test holds: equality, order, `in`, isinstance;
or it was told what may be expected of it, by arithmetic with plain data."""
NOTE_OBJECT_CALLED = "told"
"""An object of the candidate that a call returned was called itself, with arguments."""
NOTE_OBJECTS_CROSSED = "objects"
"""Values crossed that are not plain."""
NOTE_CANNOT_CROSS = "stuck"
"""Something could not cross at all."""


class Proxy:
    """An object of the candidate, by number. Its own fields have names that no candidate uses."""

    def __init__(self, border: "Border", number: int, kind: str) -> None:
        vars(self).update(_proctor_border_=border, _proctor_number_=number, _proctor_kind_=kind)

    def __getattr__(self, name: str) -> Any:
        return self._proctor_border_.operate("attr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._proctor_border_.operate("setattr", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._proctor_border_.operate("delattr", self, name)

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, Proxy) and self._proctor_border_.operate("isinstance", value, self)

    def __subclasscheck__(self, value: Any) -> bool:
        return isinstance(value, Proxy) and self._proctor_border_.operate("issubclass", value, self)

    def __hash__(self) -> int:
        return hash((Proxy, self._proctor_number_))

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<{self._proctor_kind_} object>"


def _special(name: str) -> Callable[..., Any]:
    """Make a special method that asks the candidate."""

    def call(self: Proxy, *args: Any, **kwargs: Any) -> Any:
        return self._proctor_border_.call(self._proctor_number_, args, kwargs)

    def leave(self: Proxy, kind: Any, _: Any, __: Any) -> Any:
        # values and tracebacks of the test's own exceptions stay here, their standard types cross
        known = kind if kind is not None and type_name(kind) else None
        return self._proctor_border_.operate(name, self, known, None, None)

    def compare(self: Proxy, other: object) -> Any:
        if not isinstance(other, Proxy):
            return NotImplemented
        return self._proctor_border_.operate(name, self, other)

    def method(self: Proxy, *args: Any) -> Any:
        return self._proctor_border_.operate(name, self, *args)

    special: dict[str, Callable[..., Any]] = {
        "__call__": call,
        "__exit__": leave,
        **dict.fromkeys(COMPARISONS, compare),
    }
    return special.get(name, method)


@functools.cache
def _stand_in(abilities: frozenset[str]) -> type[Proxy]:
    methods = {"__hash__": Proxy.__hash__, **{name: _special(name) for name in abilities}}
    return types.new_class("Remote", (Proxy,), {}, lambda body: body.update(methods))


class Border:
    """The examiner's side of the border: requests out, answers and callbacks in."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._proxies: dict[int, Proxy] = {}
        self._named_numbers: set[int] = set()
        self._callbacks: list[Callable[..., Any]] = []
        self._classes = StandInClasses()
        self._last = 0
        self.notes: set[str] = set()
        self._raised_errors: dict[int, tuple[BaseException, Any]] = {}

    def find(self, name: str) -> Any:
        """Return what the candidate calls `name`; KeyError if nothing."""
        answer = self._request(frames.OP, {"o": "name", "a": [name]})
        if not answer["found"]:
            raise KeyError(name)
        before = self.notes.copy()
        value = self._unpack(answer["v"])
        self.notes = before  # that a function or class is an object says nothing
        if isinstance(value, Proxy):
            self._named_numbers.add(value._proctor_number_)
        return value

    def call(self, target: str | int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of the candidate and write changes back into the arguments."""
        if target not in self._named_numbers and (args or kwargs):
            self.notes.add(NOTE_OBJECT_CALLED)
        containers: list[Any] = []
        arguments = [list(args), [list(pair) for pair in kwargs.items()]]
        packed = self._pack(arguments, {}, containers)
        answer = self._request(
            frames.CALL, {"f": target, "a": packed[0], "k": packed[1], "w": True}
        )
        changes = [(index, self._unpack(now, containers)) for index, now in answer["w"]]
        result = self._unpack(answer["v"], containers)
        for index, now in changes:
            _write_back(containers[index], now)
        return result

    def operate(self, operation: str, *args: Any) -> Any:
        """Ask the candidate to do something with one of its objects."""
        plain = operation.startswith("__") and any(not isinstance(arg, Proxy) for arg in args[1:])
        if operation in DECIDING or (plain and operation not in NEUTRAL):
            self.notes.add(NOTE_OBJECT_DECIDED)
        answer = self._request(frames.OP, {"o": operation, "a": self._pack(list(args))})
        return NotImplemented if answer.get("not") else self._unpack(answer["v"])

    def describe_candidate_error(self, error: BaseException) -> Any:
        """Return what the candidate said of an exception that it raised, None if it did not."""
        known, message = self._raised_errors.get(id(error), (None, None))
        return message if known is error else None

    def _request(self, kind: int, message: Any) -> Any:
        self._last += 1
        number = self._last
        self._channel.send(kind, number, message)
        while True:
            frame = self._channel.receive()
            if frame is None:  # the supervisor has seen enough
                raise SystemExit(0)
            if frame.kind == frames.CALLBACK:
                self._run_callback(frame)
            elif frame.kind == frames.RAISED:
                raise self._rebuild_error(parse(frame.payload))
            else:
                return parse(frame.payload)

    def _rebuild_error(self, message: Any) -> BaseException:
        error = self._classes.make(message, unpack(message["args"]))
        self._raised_errors[id(error)] = (error, message)
        return error

    def _run_callback(self, frame: Frame) -> None:
        """Run a function of the test for the candidate."""
        message = parse(frame.payload)
        try:
            args, pairs = self._unpack(message["a"])
            result = self._callbacks[message["k"]](*args, **dict(pairs))
            self._channel.send(frames.VALUE, frame.number, {"v": self._pack(result)})
        except (Malformed, CannotCross):
            raise
        except Exception as error:
            self._channel.send(frames.RAISED, frame.number, _describe(error))

    def _pack(
        self, value: Any, known: dict[int, int] | None = None, containers: list[Any] | None = None
    ) -> Any:
        return pack(value, self._pack_object, known, containers)

    def _unpack(self, data: Any, containers: list[Any] | None = None) -> Any:
        return unpack(data, self._unpack_object, numpy=True, containers=containers)

    def _pack_object(self, value: Any) -> Any:
        if isinstance(value, Proxy):
            return {"H": value._proctor_number_}
        if isinstance(value, type) and value in self._classes.numbers:
            return {"H": self._classes.numbers[value]}
        if isinstance(value, FUNCTIONS):
            if value not in self._callbacks:
                self._callbacks.append(value)
            return {"k": self._callbacks.index(value)}
        self.notes.add(NOTE_CANNOT_CROSS)
        raise CannotCross(f"{type(value).__name__} objects cannot cross the border")

    def _unpack_object(self, tag: str, content: Any) -> Any:
        if tag == "x":
            return self._classes.find(content)
        if tag == "a":
            self.notes.add(NOTE_CANNOT_CROSS)
            raise CannotCross("an array cannot cross without numpy on this side")
        if tag != "h":
            raise Malformed(f"tag {tag!r} may not stand here")
        number, kind, abilities = content
        self.notes.add(NOTE_OBJECTS_CROSSED)
        if number not in self._proxies:
            make = _stand_in(frozenset(abilities))
            self._proxies[int(number)] = make(self, int(number), str(kind))
        return self._proxies[number]


def _write_back(container: Any, now: Any) -> None:
    """Make a container of the test hold what the candidate's copy of it holds now."""
    kind: Any = next((base for base in MUTABLE if isinstance(container, base)), None)
    if kind is None or not isinstance(now, kind):
        raise Malformed("an argument changed its type")
    if kind in (list, bytearray):
        kind.__setitem__(container, slice(None), now)
        return
    kind.clear(container)
    (kind.update if hasattr(kind, "update") else kind.extend)(container, now)


def _describe(error: Exception) -> dict[str, Any]:
    try:
        args = [pack(arg, refuse_handle) for arg in error.args]
    except (CannotCross, TooLarge):
        args = []
    return {**describe_class(type(error), lambda _: 0), "args": args}
