"""What a request is told that is not answered as asked: a status, a word for programs, a sentence.

Each dialect says it in its own shape; this is the native one.
"""

import traceback
from http import HTTPStatus
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException

from proctor.errors import InputError, ProctorError, SandboxError
from proctor.server.queue import Busy, Late

JSON = "application/json"
TRY_AGAIN = 1.0
"""Seconds after which what failed on our side may be asked again."""


class Refusal(Exception):
    """A request that is not answered as asked."""

    def __init__(
        self, status: HTTPStatus, code: str, detail: str, retry_after: float | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        """Say when to ask again, if that is of use."""
        return {} if self.retry_after is None else {"retry-after": f"{self.retry_after:.0f}"}

    def body(self, request_id: str) -> bytes:
        """Say it in the native shape."""
        said = {"code": self.code, "detail": self.detail, "request_id": request_id}
        return msgspec.json.encode(said)


def refusal_of(error: BaseException) -> Refusal:
    """Return what is said of an error; what nobody foresaw is told to our log alone."""
    match error:
        case Refusal():
            return error
        case Busy(retry_after=seconds):
            return Refusal(HTTPStatus.TOO_MANY_REQUESTS, "busy", str(error), seconds)
        case Late():
            said = "there was no time for it before its deadline"
            return Refusal(HTTPStatus.GATEWAY_TIMEOUT, "deadline", said, TRY_AGAIN)
        case InputError():
            return Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", str(error))
        case SandboxError():
            return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "sandbox", str(error), TRY_AGAIN)
        case ProctorError():
            return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "host", str(error), TRY_AGAIN)
        case HTTPException(status_code=status):
            phrase = HTTPStatus(status).phrase
            return Refusal(HTTPStatus(status), phrase.lower().replace(" ", "_"), phrase)
    traceback.print_exception(error)
    said = "this is a defect of Proctor; the log of the server says more"
    return Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "defect", said)


def answer(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Refuse a request in the native shape."""
    refusal = refusal_of(error)
    state = request.scope.get("state", {})
    state["code"] = refusal.code
    return Response(
        refusal.body(str(state.get("request_id", ""))),
        status_code=refusal.status,
        media_type=JSON,
        headers=refusal.headers,
    )
