"""All dialects of the service as one application."""

from http import HTTPStatus
from typing import Any

from litestar import Litestar, Request, Response
from litestar.connection import ASGIConnection
from litestar.exceptions import HTTPException
from litestar.handlers import BaseRouteHandler

from proctor.server import routes
from proctor.server.compat import piston, sandboxfusion
from proctor.server.errors import ErrorResponse, error_response
from proctor.server.log import AccessLog
from proctor.server.middleware import RequestMiddleware
from proctor.server.service import Service


def create_app(service: Service) -> Litestar:
    """Return the routes of all dialects; `application` is what a server should serve."""
    handlers: dict[int | type[Exception], Any] = {HTTPException: _refuse, Exception: _refuse}
    dialects = (routes, sandboxfusion, piston)
    return Litestar(
        route_handlers=[route for dialect in dialects for route in dialect.routes(service)],
        guards=[_check_scope],
        exception_handlers=handlers,
        openapi_config=None,
        logging_config=None,
    )


def _refuse(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Refuse what no handler took: below the one path that is a dialect's own, in its shape."""
    its = request.scope["path"].startswith(f"{piston.PREFIX}/")
    return piston.refuse(request, error) if its else error_response(request, error)


async def _check_scope(
    connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler
) -> None:
    """Reject keys without the scope that the handler names; one that names none is closed.

    Litestar's own handlers for OPTIONS only say which methods a path has.
    """
    http_scope: Any = connection.scope
    if http_scope.get("method") == "OPTIONS":
        return
    scope = handler.opt.get("scope", "missing")
    if scope is not None and scope not in connection.scope["state"]["caller"].scopes:
        raise ErrorResponse(
            HTTPStatus.FORBIDDEN, "scope", f"this needs a key with the scope {scope}"
        )


def application(
    service: Service, *, log: AccessLog | None = None, local: bool = False
) -> RequestMiddleware:
    """Return the application with all that requests have to pass first."""
    return RequestMiddleware(create_app(service), service, log=log, local=local)
