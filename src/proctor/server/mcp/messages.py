"""JSON-RPC 2.0 as the Model Context Protocol uses it: one object a line."""

from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from proctor.client.schema import decode
from proctor.errors import InputError
from proctor.records.encoding import encode
from proctor.storage.jsonl import explain_error, shorten

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR, UNSUPPORTED_VERSION = -32602, -32603, -32022
MAX_ID = 1000

Id = int | str


class RpcError(Exception):
    """Why a message is not answered as asked, by a number and a sentence."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A request, or without an id a notification."""

    method: str
    id: Id | None = None
    params: Raw

    def read(self, kind: type[msgspec.Struct]) -> Any:
        """Return the parameters as a record."""
        try:
            return decode(bytes(self.params), kind)
        except InputError as error:
            raise RpcError(INVALID_PARAMS, f"params: {error}") from None


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """What a line may hold; what is wrong with it is found out below."""

    jsonrpc: Any = None
    id: Any = UNSET
    method: Any = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class Unreadable(RpcError):
    """A line that is no message; its id is told if it has a good one."""

    def __init__(self, code: int, message: str, id_: Id | None = None) -> None:
        super().__init__(code, message)
        self.id = id_


def parse(text: bytes) -> Message | None:
    """Read a line; None if it is an answer, for nothing was asked."""
    try:
        line = msgspec.json.decode(text, type=_Line)
    except msgspec.ValidationError:
        raise Unreadable(INVALID_REQUEST, "a message is one object; there are no batches") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Unreadable(PARSE_ERROR, explain_error(error)) from None
    known = line.id if _is_id(line.id) else None
    if line.jsonrpc != "2.0":
        raise Unreadable(INVALID_REQUEST, 'field jsonrpc must be "2.0"', known)
    if line.method is UNSET and (line.result is not UNSET or line.error is not UNSET):
        return None
    if not isinstance(line.method, str):
        raise Unreadable(INVALID_REQUEST, "field method must be a string", known)
    if line.id is not UNSET and known is None:
        raise Unreadable(INVALID_REQUEST, f"field id cannot be {shorten(line.id)}")
    params = line.params if isinstance(line.params, Raw) else Raw(b"{}")
    return Message(method=line.method, id=known, params=params)


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_ID
    return isinstance(value, int) and not isinstance(value, bool)


def answer(id_: Id, result: Any) -> bytes:
    """Return the line that answers a request."""
    return _line({"id": id_, "result": result})


def refusal(id_: Id | None, error: RpcError) -> bytes:
    """Return the line that says why a request is not answered."""
    said: dict[str, Any] = {"code": error.code, "message": str(error)}
    if error.data is not None:
        said["data"] = error.data
    return _line({"id": id_, "error": said})


def notification(method: str, params: Any) -> bytes:
    """Return a line that wants no answer."""
    return _line({"method": method, "params": params})


def _line(message: dict[str, Any]) -> bytes:
    return encode({"jsonrpc": "2.0", **message}) + b"\n"
