"""All dialects of the service as one application."""

from typing import Any

from litestar import Litestar
from litestar.exceptions import HTTPException

from proctor.server import fusion, native
from proctor.server.door import Door
from proctor.server.log import AccessLog
from proctor.server.refusal import answer
from proctor.server.service import Service


def create_app(service: Service) -> Litestar:
    """Return the routes of all dialects; `application` is what a server should serve."""
    handlers: dict[int | type[Exception], Any] = {HTTPException: answer, Exception: answer}
    return Litestar(
        route_handlers=[*native.routes(service), *fusion.routes(service)],
        exception_handlers=handlers,
        openapi_config=None,
        logging_config=None,
    )


def application(service: Service, *, log: AccessLog | None = None, local: bool = False) -> Door:
    """Return the application with all that requests have to pass first."""
    return Door(create_app(service), service, log=log, local=local)
