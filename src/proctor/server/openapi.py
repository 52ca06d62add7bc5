"""The OpenAPI document of the native API, made of the records that it takes and gives."""

import html
from functools import cache
from http import HTTPStatus
from importlib import metadata
from typing import Any, NamedTuple

import msgspec

from proctor.benchmarks.tasks_file import Row
from proctor.client import schema
from proctor.server.keys import Scope

JSON, LINES, TEXT = "application/json", "application/x-ndjson", "text/plain"
ALWAYS = (401, 403, 503)
WORK = (408, 413, 415, 422, 429, 504)
"""Answers that say why a request is not answered as asked."""


SESSION = ("session_id", "path", "Its id.")


class Operation(NamedTuple):
    """One path of the API."""

    method: str
    path: str
    about: str
    gives: Any
    takes: Any = None
    refusals: tuple[int, ...] = ()
    media: str = JSON
    parameters: tuple[tuple[str, str, str], ...] = ()
    """Name, where it stands, what it is."""
    scope: Scope | None = None
    """What a key must be for; None: it needs no key. The handler names it, too."""


OPERATIONS = (
    Operation(
        *("post", "/v1/grade", "Judge one or several completions of a task.", schema.Graded),
        *(schema.Grade, WORK),
        scope="grade",
    ),
    Operation(
        *("post", "/v1/grade/batch", "Judge a stream of completions, one JSON object a line."),
        *(schema.BatchAnswer, schema.BatchLine, (415, 429)),
        media=LINES,
        scope="grade",
    ),
    Operation(
        *("post", "/v1/execute", "Run one program and say what happened.", schema.Executed),
        *(schema.Execute, WORK),
        scope="execute",
    ),
    Operation(
        *("post", "/v1/sessions", "Open a notebook: a Python process that keeps its names."),
        *(schema.SessionAbout, schema.OpenSession, WORK),
        scope="execute",
    ),
    Operation(
        *("get", "/v1/sessions", "List your open notebooks.", schema.Sessions),
        scope="execute",
    ),
    Operation(
        *("post", "/v1/sessions/{session_id}/execute", "Run a cell.", schema.ExecutedCell),
        *(schema.ExecuteCell, (*WORK, 404, 409)),
        parameters=(SESSION,),
        scope="execute",
    ),
    Operation(
        *("delete", "/v1/sessions/{session_id}", "Close a notebook.", schema.SessionAbout),
        refusals=(404,),
        parameters=(SESSION,),
        scope="execute",
    ),
    Operation(
        *("get", "/v1/benchmarks", "List the benchmarks that are known by name."),
        list[schema.BenchmarkAbout],
        scope="tasks",
    ),
    Operation(
        *("get", "/v1/benchmarks/{name}", "List the tasks of a benchmark.", schema.BenchmarkTasks),
        refusals=(404,),
        parameters=(("name", "path", "Its name."),),
        scope="tasks",
    ),
    Operation(
        *("get", "/v1/tasks/{task_id}", "Tell about a task.", schema.TaskAbout),
        refusals=(404,),
        parameters=(
            ("task_id", "path", "Its id, which may hold slashes."),
            ("benchmark", "query", "The name of its benchmark; without it, one that is in use."),
            ("tests", "query", "`true`: with its tests and solution; needs the scope tests."),
        ),
        scope="tasks",
    ),
    Operation("get", "/healthz", "Say that the process lives.", schema.Status),
    Operation("get", "/readyz", "Say whether it takes work.", schema.Status),
    Operation("get", "/metrics", "Counters for Prometheus.", str, media=TEXT, scope="metrics"),
)


@cache
def document() -> bytes:
    """Return the document as JSON."""
    kinds = {
        kind for one in OPERATIONS for kind in (one.gives, one.takes) if kind not in (None, str)
    }
    order = sorted(kinds, key=str)
    found, components = msgspec.json.schema_components(
        [*order, schema.ErrorBody, Row], ref_template="#/components/schemas/{name}"
    )
    schemas: dict[Any, Any] = dict(zip(order, found, strict=False))
    for name in ("Grade", "BatchLine"):
        components[name]["properties"]["task"] = {"$ref": "#/components/schemas/Row"}
    paths: dict[str, Any] = {}
    for one in OPERATIONS:
        paths.setdefault(one.path, {})[one.method] = _operation(one, schemas)
    whole = {
        "openapi": "3.1.0",
        "info": {
            "title": "Proctor",
            "version": metadata.version("proctor"),
            "description": "Runs programs in a sandbox and judges completions of language models.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"key": []}, {}],
    }
    return msgspec.json.encode(whole)


def _operation(one: Operation, schemas: dict[Any, Any]) -> dict[str, Any]:
    trouble = {JSON: {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
    given = {"type": "string"} if one.gives is str else schemas[one.gives]
    refused = (*one.refusals, *((503,) if one.scope is None else ALWAYS))
    made: dict[str, Any] = {
        "summary": one.about,
        "responses": {
            "200": {"description": "As asked.", "content": {one.media: {"schema": given}}},
            **{
                str(status): {"description": HTTPStatus(status).phrase, "content": trouble}
                for status in sorted(set(refused))
            },
        },
    }
    if one.scope is None:
        made["security"] = []
    if one.takes is not None:
        content = {one.media: {"schema": schemas[one.takes]}}
        made["requestBody"] = {"required": True, "content": content}
    if one.parameters:
        made["parameters"] = [
            {
                "name": name,
                "in": place,
                "description": about,
                "required": place == "path",
                "schema": {"type": "string"},
            }
            for name, place, about in one.parameters
        ]
    return made


@cache
def page() -> str:
    """Return the document for people, without a script and without anything from elsewhere."""
    whole = msgspec.json.decode(document())
    parts = [
        "<!doctype html><meta charset=utf-8><title>Proctor: API</title>",
        "<style>body{font:15px/1.5 system-ui;max-width:60em;margin:2em auto;padding:0 1em}",
        "pre{background:#8881;padding:.8em;overflow:auto}summary{cursor:pointer}</style>",
        f"<h1>Proctor {html.escape(whole['info']['version'])}: API</h1>",
        "<p>The same for programs: <a href=/schema/openapi.json>openapi.json</a>.",
    ]
    for one in OPERATIONS:
        told = whole["paths"][one.path][one.method]
        parts.append(f"<h2>{one.method.upper()} {html.escape(one.path)}</h2>")
        parts += [f"<p>{html.escape(one.about)}", _details("all of it", told)]
    parts.append("<h1>Records</h1>")
    for name, one in whole["components"]["schemas"].items():
        parts.append(_details(name, one))
    return "\n".join(parts)


def _details(title: str, value: Any) -> str:
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return (
        f"<details><summary>{html.escape(title)}</summary><pre>{html.escape(text)}</pre></details>"
    )
