"""Validate the fields of a JSON body as SandboxFusion does.

It uses pydantic, and clients show or match its messages. So numbers may be strings, unknown fields
are ignored, and errors are returned as a list of details, in the order of the fields.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

MANUAL = "https://errors.pydantic.dev/2.6/v/"
MAX_ECHOED = 1 << 16
"""Maximum size of a body that is echoed in an error."""
DIGITS = 4300
"""Python refuses to convert longer texts to int."""

NOT_A_MODEL = "Input should be a valid dictionary or object to extract fields from"


class Unprocessable(Exception):
    """An invalid body; `details` lists the errors."""

    status = 422

    def __init__(self, details: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(f"{len(details)} fields are wrong")
        self.details = details

    def body(self) -> bytes:
        """Return the response; leave out input that JSON cannot represent."""
        try:
            text = json.dumps({"detail": self.details}, allow_nan=False)
        except ValueError:
            text = ""
        if not text or len(text) > MAX_ECHOED:
            bare = [{**detail, "input": None} for detail in self.details]
            text = json.dumps({"detail": bare})
        return text.encode()


class Unreadable(Exception):
    """A body that is not UTF-8, or JSON that is nested too deeply."""


def parse(body: bytes, content_type: str) -> Any:
    """Read a body as JSON; another content type is an error."""
    if content_type and not _is_json(content_type):
        raise Unprocessable(
            [_detail("model_attributes_type", ["body"], NOT_A_MODEL, body.decode(errors="replace"))]
        )
    if not body:
        return None
    try:
        return json.loads(body)
    except json.JSONDecodeError as error:
        detail = {
            "type": "json_invalid",
            "loc": ["body", error.pos],
            "msg": "JSON decode error",
            "input": {},
            "ctx": {"error": error.msg},
        }
        raise Unprocessable([detail]) from None
    except (ValueError, RecursionError):
        raise Unreadable from None


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and "+json" in kind)


class Fields:
    """The fields of one object; errors are collected until `check`."""

    def __init__(
        self, value: Any, where: Sequence[str | int] = ("body",), details: Any = None
    ) -> None:
        self._where = list(where)
        self._details: list[Mapping[str, Any]] = [] if details is None else details
        self._value: Mapping[str, Any] = {}
        if value is None and self._where == ["body"]:
            self._wrong("missing", [], "Field required", None)
        elif not isinstance(value, dict):
            self._wrong("model_attributes_type", [], NOT_A_MODEL, value)
        else:
            self._value = value
        self._broken = not isinstance(value, dict)

    def check(self) -> None:
        """Raise if anything was wrong."""
        if self._details:
            raise Unprocessable(self._details)

    def number(self, name: str, default: float, max_value: float) -> float:
        """Return a finite number that is at most `max_value`."""
        value = self._read(name, _number, default)
        if value > max_value:
            said = f"Input should be less than or equal to {max_value:g}"
            self._wrong("less_than_equal", [name], said, value, {"le": max_value})
        return value

    def optional_number(self, name: str, max_value: float) -> float | None:
        """Return a finite number that is at most `max_value`, or None."""
        return None if self._value.get(name) is None else self.number(name, 0.0, max_value)

    def integer(self, name: str, default: int) -> int:
        """Return an integer."""
        return self._read(name, _integer, default)

    def text(self, name: str) -> str:
        """Return a text that has to be there."""
        return self._read(name, _text, "", required=True)

    def optional_text(self, name: str) -> str | None:
        """Return a text or None."""
        return None if self._value.get(name) is None else self.text(name)

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """Return one of some texts, which has to be there."""
        return self._read(name, lambda value: _choice(value, choices), choices[0], required=True)

    def optional_choice(self, name: str, choices: Sequence[str]) -> str | None:
        """Return one of some texts or None."""
        return None if self._value.get(name) is None else self.choice(name, choices)

    def flag(self, name: str) -> bool:
        """Return true or false, which has to be there."""
        return self._read(name, _flag, False, required=True)

    def optional_flag(self, name: str) -> bool | None:
        """Return true, false or None."""
        return None if self._value.get(name) is None else self.flag(name)

    def identity(self, name: str) -> int | str:
        """Return a number or a text that has to be there."""
        value = self._value.get(name, "")
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.text(name)
        self._wrong("int_type", [name, "int"], "Input should be a valid integer", value)
        self._wrong("string_type", [name, "str"], "Input should be a valid string", value)
        return ""

    def mapping(self, name: str) -> dict[str, Any]:
        """Return an object, empty if it is not there."""
        return self._read(name, _mapping, {})

    def texts_by_name(self, name: str) -> dict[str, str | None]:
        """Return an object whose values are texts or null."""
        found = self.mapping(name)
        for key, value in found.items():
            self._item([name, key], key, _text)
            if value is not None:
                self._item([name, key], value, _text)
        return found

    def texts(self, name: str, *, required: bool = False) -> list[str]:
        """Return a list of texts."""
        found: list[str] = self._read(name, _list, [], required=required)
        for index, value in enumerate(found):
            self._item([name, index], value, _text)
        return found

    def records(self, name: str) -> list["Fields"]:
        """Return a list of objects that has to be there."""
        found: list[Any] = self._read(name, _list, [], required=True)
        return [
            Fields(one, [*self._where, name, index], self._details)
            for index, one in enumerate(found)
        ]

    def record(self, name: str) -> "Fields":
        """Return an object that has to be there."""
        if name not in self._value:
            self._missing(name)
            return Fields({}, [*self._where, name], [])
        return Fields(self._value[name], [*self._where, name], self._details)

    def rows(self, name: str) -> list[dict[str, Any]] | None:
        """Return one object or a list of them as a list, or None."""
        value = self._value.get(name)
        if value is None:
            return None
        found = value if isinstance(value, list) else [value]
        for index, row in enumerate(found):
            place: list[str | int] = [name, index] if isinstance(value, list) else [name]
            self._item(place, row, _mapping)
        return found

    def _read(
        self, name: str, convert: Callable[[Any], T], default: T, *, required: bool = False
    ) -> T:
        """Return a field as something; if it is wrong, the default stands in for now."""
        if name in self._value:
            found = self._item([name], self._value[name], convert)
            return default if found is None else found
        if required:
            self._missing(name)
        return default

    def _item(
        self, place: Sequence[str | int], value: Any, convert: Callable[[Any], T]
    ) -> T | None:
        try:
            return convert(value)
        except _Wrong as wrong:
            self._wrong(wrong.kind, place, wrong.said, value, wrong.context)
            return None

    def _missing(self, name: str) -> None:
        if not self._broken:
            self._wrong("missing", [name], "Field required", self._value)

    def _wrong(
        self,
        kind: str,
        place: Sequence[str | int],
        said: str,
        value: Any,
        context: Mapping[str, Any] | None = None,
    ) -> None:
        self._details.append(_detail(kind, [*self._where, *place], said, value, context))


class _Wrong(Exception):
    """A value that is not what it should be."""

    def __init__(self, kind: str, said: str, context: Mapping[str, Any] | None = None) -> None:
        super().__init__(said)
        self.kind, self.said, self.context = kind, f"Input should be {said}", context


def _detail(
    kind: str,
    place: Sequence[str | int],
    said: str,
    value: Any,
    context: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    more = {} if context is None else {"ctx": context}
    return {
        "type": kind,
        "loc": list(place),
        "msg": said,
        "input": value,
        **more,
        "url": MANUAL + kind,
    }


def _number(value: Any) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            said = "a valid number, unable to parse string as a number"
            raise _Wrong("float_parsing", said) from None
    if not isinstance(value, int | float):
        raise _Wrong("float_type", "a valid number")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise _Wrong("finite_number", "a finite number")
    return found


def _integer(value: Any) -> int:
    match value:
        case bool() | int():
            return int(value)
        case float() if value.is_integer():
            return int(value)
        case float():
            said = "a valid integer, got a number with a fractional part"
            raise _Wrong("int_from_float", said)
        case str() if len(value) <= DIGITS:
            try:
                return int(value)
            except ValueError:
                said = "a valid integer, unable to parse string as an integer"
                raise _Wrong("int_parsing", said) from None
    raise _Wrong("int_type", "a valid integer")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Wrong("string_type", "a valid string")
    if any("\ud800" <= letter <= "\udfff" for letter in _beyond_latin(value)):
        said = "a valid string, unable to parse raw data as a unicode string"
        raise _Wrong("string_unicode", said)
    return value


def _beyond_latin(text: str) -> str:
    """Return a text if it may hold half characters; most hold nothing but ASCII."""
    return "" if text.isascii() else text


def _choice(value: Any, choices: Sequence[str]) -> str:
    if isinstance(value, str) and value in choices:
        return value
    named = ", ".join(f"{choice!r}" for choice in choices[:-1]) + f" or {choices[-1]!r}"
    raise _Wrong("literal_error", named, {"expected": named})


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    said = "a valid boolean"
    if isinstance(value, int | float | str):
        known = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
        if str(value).lower() in known:
            return known[str(value).lower()]
        raise _Wrong("bool_parsing", f"{said}, unable to interpret input")
    raise _Wrong("bool_type", said)


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Wrong("dict_type", "a valid dictionary")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _Wrong("list_type", "a valid list")
    return value
