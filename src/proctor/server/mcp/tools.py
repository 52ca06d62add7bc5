"""The tools: what they take, what they give, what they are good for."""

import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from proctor.benchmarks.tasks_file import Row
from proctor.client.schema import (
    Execute,
    Executed,
    Grade,
    Graded,
    LimitsAsked,
    Seconds,
    Short,
    decode,
)
from proctor.languages import builtin_languages
from proctor.records.limits import MIB
from proctor.server.execute import execution_body
from proctor.server.grade import graded_body, grading_plan
from proctor.server.keys import ANYBODY
from proctor.server.service import Service

NOT_TEXT = "it is not UTF-8 text"


class ExecuteAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program that is to be run once, in an empty folder without a network."""

    code: str
    """The whole program."""
    language: Short = "python"
    stdin: str = ""
    args: Annotated[Sequence[Annotated[str, Meta(max_length=4096)]], Meta(max_length=256)] = ()
    files: Annotated[Mapping[str, str], Meta(max_length=64)] = {}
    """Text files beside it: path, content."""
    fetch_files: Annotated[Sequence[str], Meta(max_length=64)] = ()
    """Paths of text files to return that it leaves."""
    timeout_s: Seconds = 10.0
    memory_bytes: Annotated[int, Meta(ge=32 * MIB)] | None = None


class Tool(NamedTuple):
    """One tool."""

    name: str
    title: str
    about: str
    takes: type[msgspec.Struct]
    gives: type[msgspec.Struct]
    call: Callable[[Service, Any], Awaitable[Any]]


async def _execute(service: Service, asked: ExecuteAsked) -> Executed:
    files = {
        path: base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
        for path, text in asked.files.items()
    }
    limits = LimitsAsked(
        cpu_seconds=asked.timeout_s, wall_seconds=asked.timeout_s, memory_bytes=asked.memory_bytes
    )
    ask = Execute(
        code=asked.code,
        language=asked.language,
        stdin=asked.stdin,
        args=asked.args,
        files=files,
        fetch_files=asked.fetch_files,
        limits=limits,
    )
    return _as_text(await execution_body(service, ANYBODY, ask))


def _as_text(done: Executed) -> Executed:
    """Return files as text, which is what a model reads."""
    files, missing = {}, dict(done.missing)
    for path, content in done.files.items():
        try:
            files[path] = base64.b64decode(content).decode()
        except UnicodeDecodeError:
            missing[path] = NOT_TEXT
    return msgspec.structs.replace(done, files=files, missing=missing)


async def _grade(service: Service, asked: Grade) -> Graded:
    plan = await grading_plan(service, asked, max_completions=service.bounds.completions)
    receipts = await graded_body(service, ANYBODY, plan)
    return Graded(task_id=plan.task.task_id, receipts=receipts)


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "execute",
            "Run a program",
            "Run one program in a sandbox: an empty folder, no network, limits on time, memory and "
            "output. Says how it ended, and what it wrote. Languages: python, and where they are "
            f"installed {', '.join([*builtin_languages()][1:])}.",
            ExecuteAsked,
            Executed,
            _execute,
        ),
        Tool(
            "grade",
            "Judge a solution by tests",
            "Judge one or several solutions of a task by its tests, which the solution never sees. "
            "The task is an object as in a tasks file (task_id, prompt, entry_point, tests), or "
            "benchmark and task_id. A solution is code, or an answer of a model that holds some. "
            "A receipt for each says pass or why not, test by test. "
            'Kinds of tests: {"kind": "assertions", "targets": ["add(1, 2) == 3"]}, '
            '{"kind": "stdin", "inputs": ["1 2"], "outputs": ["3"]}, '
            '{"kind": "calls", "fn_name": "add", "inputs": [[1, 2]], "outputs": [3]}.',
            Grade,
            Graded,
            _grade,
        ),
    )
}


@cache
def listed() -> list[dict[str, Any]]:
    """Return what a client is told of the tools."""
    return [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.about,
            "inputSchema": _schema(tool.takes),
            "outputSchema": _schema(tool.gives),
            "annotations": {
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            },
        }
        for tool in TOOLS.values()
    ]


def _schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    kinds = [kind, Row] if kind is Grade else [kind]
    _, parts = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    schema: dict[str, Any] = parts.pop(kind.__name__)
    if kind is Grade:  # the task is decoded later, so nothing is known of it by its type
        schema["properties"]["task"] = {"$ref": "#/$defs/Row"}
    return {**schema, "$defs": parts} if parts else schema


async def call(service: Service, tool: Tool, arguments: bytes) -> Any:
    """Call a tool; an InputError says what is wrong with its arguments."""
    return await tool.call(service, decode(arguments, tool.takes))
