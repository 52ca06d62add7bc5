"""The OpenAPI document: what it describes is what there is, and nothing that fits it breaks."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from syrupy.assertion import SnapshotAssertion

from proctor.server import openapi
from proctor.server.app import create_app
from proctor.server.service import Service

Running = Any
"""The server of conftest.py."""
DOCUMENT = json.loads(openapi.document())
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@schemathesis.serializer("application/x-ndjson")
def lines(context: Any, value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


thorough = schemathesis.openapi.from_dict(DOCUMENT)
short = schemathesis.openapi.from_dict(DOCUMENT)
short.config.phases.coverage.enabled = False


@short.parametrize()
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
def test_whatever_fits_the_document_or_does_not(case: Any, server: Running) -> None:
    """Requests made from the document, good and bad ones, have documented answers."""
    check(case, server)


@pytest.mark.slow
@thorough.parametrize()
@settings(max_examples=200, suppress_health_check=list(HealthCheck))
def test_whatever_fits_the_document_or_does_not_at_length(case: Any, server: Running) -> None:
    check(case, server)


def check(case: Any, server: Running) -> None:
    answer = case.call_and_validate(base_url=server.url, checks=CHECKS, timeout=60)
    assert answer.status_code < 500 or answer.json()["code"] == "deadline"


def test_the_document_is_this(snapshot: SnapshotAssertion) -> None:
    document = {**DOCUMENT, "info": {**DOCUMENT["info"], "version": "…"}}
    assert json.dumps(document, indent=1, ensure_ascii=False) == snapshot


def test_every_handler_names_the_scope_of_the_document(sandbox: Any) -> None:
    if sandbox.enforcement().tier != "portable":
        pytest.skip("one tier is enough to see the routes")
    service = Service(sandbox, workers=1)
    try:
        routes = create_app(service).routes
    finally:
        service.gate.close()
    scopes = {
        (route.path_format, method): handler.opt["scope"]
        for route in routes
        for handler, method in handlers(route)
        if method != "OPTIONS"
    }
    documented = {(one.path, one.method.upper()): one.scope for one in openapi.OPERATIONS}
    documented["/v1/grade/batch", "ANY"] = documented.pop(("/v1/grade/batch", "POST"))
    native = {
        (path, method): scope
        for (path, method), scope in scopes.items()
        if path.startswith(("/v1/", "/healthz", "/readyz", "/metrics"))
    }
    assert native.pop(("/v1/ping", "GET")) is None
    assert native == documented


def handlers(route: Any) -> Iterator[tuple[Any, str]]:
    """Yield the handlers of a route and their methods; the batch handler takes any."""
    if hasattr(route, "route_handler"):
        yield route.route_handler, "ANY"
    else:
        for method, (handler, *_) in route.route_handler_map.items():
            yield handler, method


def test_the_page_is_for_people_and_loads_nothing(server: Running) -> None:
    page = server.client.get("/schema")
    assert page.headers["content-type"].startswith("text/html")
    assert "POST /v1/grade" in page.text
    assert "<script" not in page.text
    assert "http://" not in page.text
    assert "https://" not in page.text
    assert server.client.get("/schema/openapi.json").json() == DOCUMENT
