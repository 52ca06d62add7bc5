"""What a service is asked, what its answers mean, and when to ask again; no sockets here."""

import base64
import random
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import msgspec

from proctor.client.schema import ErrorBody, Executed, Graded
from proctor.errors import InputError, ServiceError
from proctor.records.limits import Limits
from proctor.records.receipt import Receipt
from proctor.records.task import Task

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
AnyTask = Task | Mapping[str, Any] | tuple[str, str]
"""A task as a record, as a row of a tasks file, or by the name of its benchmark and its id."""

ATTEMPTS = 8
LATER = frozenset({429, 502, 503})
"""Answers that may be others a moment later."""
FIRST_PAUSE, MAX_PAUSE = 0.2, 60.0
OK, WRONG = 200, 500
ROW = (
    *("task_id", "prompt", "preamble", "entry_point", "language", "tests", "metadata"),
    *("canonical_solution", "wrong_solutions"),
)
"""Fields of a task that a service is told."""


class Ask(NamedTuple, Generic[T]):
    """One request, and what its answer means."""

    method: str
    path: str
    read: Callable[[bytes], T]
    body: bytes | None = None
    query: Mapping[str, str] = {}


def httpx() -> Any:
    """Return the package that sends requests, loaded when it is needed."""
    try:
        import httpx2  # noqa: PLC0415  most who import proctor ask no service
    except ImportError:
        raise InputError(
            "a client needs httpx2; install it with pip install '.[models]' in Proctor's folder"
        ) from None
    return httpx2


def settings(url: str, key: str | None, timeout_s: float) -> dict[str, Any]:
    """Return how a client is made."""
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    if not url.startswith(("http://", "https://")):
        raise InputError(f"{url}: the address of a service begins with http:// or https://")
    return {"base_url": url.rstrip("/"), "headers": headers, "timeout": timeout_s}


def steps(ask: Ask[T]) -> Generator[dict[str, Any] | float, Any, T]:
    """Yield requests to send and seconds to wait, until there is an answer to return."""
    headers = {} if ask.body is None else {"content-type": "application/json"}
    request = {
        "method": ask.method,
        "url": ask.path,
        "params": dict(ask.query),
        "headers": headers,
        "content": ask.body,
    }
    trouble: ServiceError | InputError = ServiceError("nobody was asked")
    for attempt in range(ATTEMPTS):
        answer = yield request
        if isinstance(answer, Exception):
            trouble = ServiceError(f"there is no answer: {answer!r}")
            pause = pause_before(attempt)
        elif answer.status_code == OK:
            return ask.read(answer.content)
        else:
            trouble, pause = trouble_of(answer), pause_before(attempt, answer)
            if answer.status_code not in LATER:
                raise trouble
        if attempt + 1 < ATTEMPTS:
            yield pause
    raise trouble


def pause_before(attempt: int, answer: "httpx2.Response | None" = None) -> float:
    """Return how long to wait: as the service says, or longer each time; never all alike."""
    said = "" if answer is None else answer.headers.get("retry-after", "")
    wished = float(said) if said.isdigit() else FIRST_PAUSE * 2**attempt
    return min(wished, MAX_PAUSE) * random.uniform(0.5, 1.0)  # noqa: S311  no secret


def trouble_of(answer: "httpx2.Response") -> ServiceError | InputError:
    """Return what a service says is wrong."""
    try:
        said = msgspec.json.decode(answer.content, type=ErrorBody)
        detail = f"{said.detail} ({said.code}, request {said.request_id})"
    except msgspec.DecodeError:
        detail = answer.text[:200]
    if OK < answer.status_code < WRONG and answer.status_code not in LATER:
        return InputError(f"the service refuses: {detail}")
    return ServiceError(f"the service answers {answer.status_code}: {detail}")


def grade(
    task: AnyTask, completions: Sequence[str], options: Mapping[str, Any]
) -> Ask[list[Receipt]]:
    """Ask for completions to be judged."""
    body = encode({**asked(task, options), "completions": list(completions)})

    def read(text: bytes) -> list[Receipt]:
        return list(msgspec.json.decode(text, type=Graded).receipts)

    return Ask("POST", "/v1/grade", read, body)


def execute(code: str, stdin: str, more: Mapping[str, Any]) -> Ask[Executed]:
    """Ask for a program to be run."""
    body = {"code": code, "stdin": stdin, **more}
    if "files" in body:
        files = body["files"].items()
        body["files"] = {path: base64.b64encode(content).decode() for path, content in files}
    if isinstance(body.get("limits"), Limits):
        body["limits"] = _changed(body["limits"])

    def read(text: bytes) -> Executed:
        return msgspec.json.decode(text, type=Executed)

    return Ask("POST", "/v1/execute", read, encode(body))


def _changed(limits: Limits) -> dict[str, Any]:
    """Return the limits that are not the usual ones."""
    usual = msgspec.structs.asdict(Limits())
    given = msgspec.structs.asdict(limits).items()
    return {name: value for name, value in given if value != usual[name]}


def task_of(benchmark: str, task_id: str, *, tests: bool) -> Ask[dict[str, Any]]:
    """Ask about a task."""
    query = {"benchmark": benchmark, **({"tests": "true"} if tests else {})}
    return Ask("GET", f"/v1/tasks/{task_id}", msgspec.json.decode, None, query)


def asked(task: AnyTask, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request that say what is judged, and how."""
    beside = {"options": dict(options)}
    deadline = beside["options"].pop("deadline_seconds", None)
    fields: dict[str, Any] = (
        beside if deadline is None else {**beside, "deadline_seconds": deadline}
    )
    match task:
        case (benchmark, task_id):
            return {**fields, "benchmark": benchmark, "task_id": task_id}
        case Task():
            row = {name: getattr(task, name) for name in ROW}
            usual = Limits().with_seconds(task.metadata.timeout_s or Limits().wall_seconds)
            if task.limits != usual:
                fields["options"].setdefault("timeout_s", task.limits.wall_seconds)
                fields["options"].setdefault("memory_bytes", task.limits.memory_bytes)
            return {**fields, "task": row}
    return {**fields, "task": dict(task)}


def encode(value: Any) -> bytes:
    """Return what is sent."""
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"this cannot be sent as JSON: {error}") from None
