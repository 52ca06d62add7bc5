"""Read what clients of Piston send, checking fields in the order in which Piston checks them.

The response names the first field that is wrong.
"""

import binascii
import json
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from proctor.records.limits import Limits

USUAL_MILLISECONDS = {
    "compile_timeout": 10_000,
    "run_timeout": 3_000,
    "compile_cpu_time": 10_000,
    "run_cpu_time": 3_000,
}
STAGES = ("compile", "run")
ENCODINGS = ("base64", "hex", "utf8")
MAX_ARGS = 256
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})*")


class Wrong(Exception):
    """A rejected request; `said` is the whole body of the response."""

    def __init__(
        self,
        message: str = "",
        *,
        status: HTTPStatus = HTTPStatus.BAD_REQUEST,
        key: str = "message",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.said = {key: message} if message else None


class File(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a job."""

    name: str
    content: bytes
    is_text: bool
    """Whether it came as text; the first that did is the program."""


class Addressed(msgspec.Struct, frozen=True, kw_only=True):
    """A request whose runtime is known; its other fields are not validated yet."""

    language: str
    version: str
    rows: Sequence[Mapping[str, Any]]
    body: Mapping[str, Any]


class Execute(msgspec.Struct, frozen=True, kw_only=True):
    """A program with its files and the limits of each stage."""

    files: Sequence[File]
    stdin: str
    args: Sequence[str]
    compile_timeout: float
    run_timeout: float
    compile_cpu_time: float
    run_cpu_time: float
    compile_memory_limit: int | None
    """In bytes; None if no limit is asked for."""
    run_memory_limit: int | None

    @property
    def program(self) -> File:
        """The file that is run."""
        return next(file for file in self.files if file.is_text)

    @property
    def seconds(self) -> float:
        """Maximum duration once it has started."""
        return (self.compile_timeout + self.run_timeout) / 1000

    def stage(self, stage: str, limits: Limits, max_memory_bytes: int) -> Limits:
        """Return limits with those of a stage filled in."""
        memory = getattr(self, f"{stage}_memory_limit")
        return msgspec.structs.replace(
            limits,
            wall_seconds=getattr(self, f"{stage}_timeout") / 1000,
            cpu_seconds=getattr(self, f"{stage}_cpu_time") / 1000,
            memory_bytes=min(memory or limits.memory_bytes, max_memory_bytes),
        )


def parse(body: bytes) -> Mapping[str, Any]:
    """Read a body as JSON; an array counts as an empty object, as in Piston."""
    try:
        value = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError) as error:
        raise Wrong(f"SyntaxError: {error}", key="stack") from None
    if not isinstance(value, dict | list):
        raise Wrong("SyntaxError: the body is neither an object nor an array", key="stack")
    return value if isinstance(value, dict) else {}


def address(body: Mapping[str, Any]) -> Addressed:
    """Read the fields that are checked before a runtime is looked up."""
    for name in ("language", "version"):
        if not isinstance(body.get(name), str) or not body[name]:
            raise Wrong(f"{name} is required as a string")
    rows = body.get("files")
    if not isinstance(rows, list):
        raise Wrong("files is required as an array")
    for index, row in enumerate(rows):
        if not isinstance(row, dict) or not isinstance(row.get("content"), str):
            raise Wrong(f"files[{index}].content is required as a string")
    return Addressed(language=body["language"], version=body["version"], rows=rows, body=body)


def execute(asked: Addressed, max_seconds: float, max_memory_bytes: int) -> Execute:
    """Read the rest, once there is a runtime for it."""
    if not any(_encoding(row) == "utf8" for row in asked.rows):
        raise Wrong("files must include at least one utf8 encoded file")
    limits = _limits(asked.body, max_seconds, max_memory_bytes)
    stdin, args = asked.body.get("stdin") or "", asked.body.get("args") or []
    if not isinstance(stdin, str):
        raise Wrong("stdin must be a string")
    if not isinstance(args, list) or not all(isinstance(word, str) for word in args):
        raise Wrong("args must be an array of strings")
    if len(args) > MAX_ARGS or any("\0" in word for word in args):
        raise Wrong(f"args may be at most {MAX_ARGS}, without null characters")
    return Execute(
        files=[_file(index, row) for index, row in enumerate(asked.rows)],
        stdin=stdin if stdin.endswith("\n") else f"{stdin}\n",
        args=args,
        **limits,
    )


def _limits(body: Mapping[str, Any], max_seconds: float, max_memory_bytes: int) -> dict[str, Any]:
    """Read limits, those on memory first."""
    max_milliseconds = int(1000 * max_seconds)
    found: dict[str, Any] = {}
    for kind in ("memory_limit", "timeout", "cpu_time"):
        for stage in STAGES:
            name = f"{stage}_{kind}"
            if kind == "memory_limit":
                asked = _number(body, name, max_memory_bytes)
                found[name] = int(asked) if asked is not None and asked > 0 else None
                continue
            asked = _number(body, name, max_milliseconds)
            if asked is not None and asked < 0:
                raise Wrong(f"{name} must be non-negative")
            found[name] = asked or USUAL_MILLISECONDS[name]
    return found


def _number(body: Mapping[str, Any], name: str, max_value: int) -> float | None:
    value = body.get(name)
    if not value:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124
        raise Wrong(f"If specified, {name} must be a number")
    if value > max_value:
        raise Wrong(f"{name} cannot exceed the configured limit of {max_value}")
    return value


def _encoding(row: Mapping[str, Any]) -> Any:
    return row.get("encoding") or "utf8"


def _file(index: int, row: Mapping[str, Any]) -> File:
    name, encoding = row.get("name") or f"file{index}.code", _encoding(row)
    if not isinstance(name, str):
        raise Wrong(f"files[{index}].name must be a string")
    encoding = encoding if encoding in ENCODINGS else "utf8"
    return File(name=name, content=_decoded(row["content"], encoding), is_text=encoding == "utf8")


def _decoded(text: str, encoding: str) -> bytes:
    """Decode a file's content as Node does: skip characters outside the encoding."""
    if encoding == "hex":
        found = _HEX.match(text)
        return bytes.fromhex("" if found is None else found[0])
    if encoding == "base64":
        letters = _NOT_BASE64.sub("", text.partition("=")[0].translate({45: "+", 95: "/"}))
        whole = letters[: -1 if len(letters) % 4 == 1 else None]
        try:
            return b64decode(whole + "=" * (-len(whole) % 4))
        except binascii.Error:
            return b""
    return text.encode("utf-8", "replace")
