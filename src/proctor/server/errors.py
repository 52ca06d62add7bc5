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
from proctor.server.queue import QueueFull, QueueTimeout

JSON = "application/json"
TRY_AGAIN = 1.0
"""Seconds after which what failed on our side may be asked again."""


class ErrorResponse(Exception):
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


def error_for(error: BaseException) -> ErrorResponse:
    """Return what is said of an error; what nobody foresaw is told to our log alone."""
    match error:
        case ErrorResponse():
            return error
        case QueueFull(retry_after=seconds):
            return ErrorResponse(HTTPStatus.TOO_MANY_REQUESTS, "busy", str(error), seconds)
        case QueueTimeout():
            said = "there was no time for it before its deadline"
            return ErrorResponse(HTTPStatus.GATEWAY_TIMEOUT, "deadline", said, TRY_AGAIN)
        case InputError():
            return ErrorResponse(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", str(error))
        case SandboxError():
            return ErrorResponse(HTTPStatus.SERVICE_UNAVAILABLE, "sandbox", str(error), TRY_AGAIN)
        case ProctorError():
            return ErrorResponse(HTTPStatus.SERVICE_UNAVAILABLE, "host", str(error), TRY_AGAIN)
        case HTTPException(status_code=status):
            phrase = HTTPStatus(status).phrase
            return ErrorResponse(HTTPStatus(status), phrase.lower().replace(" ", "_"), phrase)
    traceback.print_exception(error)
    said = "this is a defect of Proctor; the log of the server says more"
    return ErrorResponse(HTTPStatus.INTERNAL_SERVER_ERROR, "defect", said)


def error_response(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Refuse a request in the native shape."""
    refusal = error_for(error)
    state = request.scope.get("state", {})
    state["code"] = refusal.code
    return Response(
        refusal.body(str(state.get("request_id", ""))),
        status_code=refusal.status,
        media_type=JSON,
        headers=refusal.headers,
    )
