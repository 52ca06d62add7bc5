"""All dialects of the service as one application."""

from http import HTTPStatus
from typing import Any

from litestar import Litestar
from litestar.connection import ASGIConnection
from litestar.exceptions import HTTPException
from litestar.handlers import BaseRouteHandler

from proctor.server import fusion, native
from proctor.server.door import Door
from proctor.server.keys import Scope
from proctor.server.log import AccessLog
from proctor.server.refusal import Refusal, answer
from proctor.server.service import Service

NEEDS: dict[str, Scope | None] = {
    "/v1/grade": "grade",
    "/v1/grade/batch": "grade",
    "/v1/execute": "execute",
    "/v1/benchmarks": "tasks",
    "/v1/benchmarks/{name}": "tasks",
    "/v1/tasks/{task_id}": "tasks",
    "/metrics": "metrics",
    "/run_code": "execute",
    "/submit": "grade",
    "/get_metrics": "grade",
    "/get_metrics_function": "tasks",
    "/list_datasets": "tasks",
    "/list_ids": "tasks",
    "/get_prompts": "tasks",
    "/get_prompt_by_id": "tasks",
    **dict.fromkeys(("/healthz", "/readyz", "/v1/ping", "/schema", "/schema/openapi.json")),
}
"""Which scope of a key each path needs, in whichever dialect; a path that is not here is closed."""


def create_app(service: Service) -> Litestar:
    """Return the routes of all dialects; `application` is what a server should serve."""
    handlers: dict[int | type[Exception], Any] = {HTTPException: answer, Exception: answer}
    return Litestar(
        route_handlers=[*native.routes(service), *fusion.routes(service)],
        guards=[_allowed],
        exception_handlers=handlers,
        openapi_config=None,
        logging_config=None,
    )


async def _allowed(
    connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler
) -> None:
    """Refuse who has a key, but not for this."""
    del handler
    path = connection.scope["path_template"]
    scope = NEEDS.get(path, "")
    if scope is not None and scope not in connection.scope["state"]["caller"].scopes:
        raise Refusal(HTTPStatus.FORBIDDEN, "scope", f"this needs a key with the scope {scope}")


def application(service: Service, *, log: AccessLog | None = None, local: bool = False) -> Door:
    """Return the application with all that requests have to pass first."""
    return Door(create_app(service), service, log=log, local=local)
