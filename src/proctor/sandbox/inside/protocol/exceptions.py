"""Exceptions across the border: as the first standard class of their MRO, with stand-ins below.

SystemExit, KeyboardInterrupt and GeneratorExit never cross as themselves: raised on the other
side they would end the wrong process. A class that the candidate defined gets a stand-in class
on the examiner's side, one for each, so that `except` and `assertRaises` work.
"""

import builtins
import types
from collections.abc import Callable
from typing import Any

from .frames import Malformed

globals()["__builtins__"] = vars(builtins).copy()  # a candidate may patch its own only

NEVER_CROSS = (SystemExit, KeyboardInterrupt, GeneratorExit)
MAX_LINEAGE = 20

STANDARD: dict[str, type[BaseException]] = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type)
    and issubclass(kind, BaseException)
    and not issubclass(kind, NEVER_CROSS)
}


def describe_class(kind: type[BaseException], number: Callable[[type], int]) -> dict[str, Any]:
    """Describe an exception class: its own classes, numbered, down to a standard one."""
    own: list[Any] = []
    for base in kind.__mro__:
        if STANDARD.get(base.__name__) is base:
            return {"own": own[:MAX_LINEAGE], "standard": base.__name__}
        own.append([number(base), base.__name__[:100]])
    return {"own": own[:MAX_LINEAGE], "standard": "BaseException"}


class StandInClasses:
    """The stand-in classes of one conversation."""

    def __init__(self) -> None:
        self._classes: dict[tuple[int, str], type[BaseException]] = {}
        self.numbers: dict[type, int] = {}

    def find(self, message: Any) -> type[BaseException]:
        """Return the class that a lineage describes, the same one every time."""
        kind = STANDARD.get(message["standard"])
        if kind is None or len(message["own"]) > MAX_LINEAGE:
            raise Malformed("no such exception")
        for number, name in reversed(message["own"]):
            key = (int(number), str(name))
            if key not in self._classes:
                shown = key[1] if key[1].isidentifier() else "Exception"
                self._classes[key] = types.new_class(shown, (kind,))
                self.numbers[self._classes[key]] = key[0]
            kind = self._classes[key]
        return kind

    def make(self, message: Any, args: list[Any]) -> BaseException:
        """Return an exception like the one that was raised on the other side."""
        kind = self.find(message)
        try:
            error = kind(*args)
        except Exception:
            error = kind.__new__(kind)
        error.args = tuple(args)
        return error
