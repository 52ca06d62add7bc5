"""What the native API takes and gives; the OpenAPI document is made of these records."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from proctor.errors import InputError
from proctor.records.execution import Ending, Usage
from proctor.records.limits import MIB
from proctor.records.receipt import Receipt
from proctor.storage.jsonl import TOO_DEEP, decode_json, explain_error, is_deeply_nested

Seconds = Annotated[float, Meta(gt=0, le=86400)]
Short = Annotated[str, Meta(max_length=200)]


class GradeOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How completions are judged, where that is not as usual."""

    extract: Literal["auto", "never"] = "auto"
    """Find code in completions, or take them as they are."""
    preamble: Literal["none", "base"] = "none"
    """Whether the usual imports are put in front."""
    early_stop: bool = False
    compare: Short | None = None
    """A comparator in place of the task's own."""
    max_tests: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    timeout_s: Seconds | None = None
    """A time limit in place of the task's own."""
    memory_bytes: Annotated[int, Meta(ge=32 * MIB)] | None = None


class Grade(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Completions of one task that are to be judged.

    The task is `task`, an object as in a tasks file, or `task_id` of `benchmark`.
    """

    task: Raw | UnsetType = UNSET
    benchmark: Short | None = None
    task_id: Annotated[str, Meta(max_length=1000)] | None = None
    completion: str | None = None
    completions: Sequence[str] | None = None
    options: GradeOptions = GradeOptions()
    deadline_seconds: Seconds | None = None
    """How long the answer may take in all; then there is none, and the work is dropped."""


class BatchLine(Grade, frozen=True, kw_only=True):
    """One line of a batch: as a request to grade, with one completion."""

    id: Annotated[str, Meta(max_length=200)] | int | None = None
    """What its line of the answer is called; its number, from 0 on, if nothing else."""


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """Receipts, in the order of the completions."""

    task_id: str
    receipts: Sequence[Receipt]


class LimitsAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of a program, where they are not the usual ones."""

    cpu_seconds: Seconds | None = None
    wall_seconds: Seconds | None = None
    memory_bytes: Annotated[int, Meta(ge=32 * MIB)] | None = None
    output_bytes: Annotated[int, Meta(ge=0, le=16 * MIB)] | None = None
    processes: Annotated[int, Meta(ge=1, le=256)] | None = None
    file_bytes: Annotated[int, Meta(ge=0, le=256 * MIB)] | None = None
    open_files: Annotated[int, Meta(ge=16, le=1024)] | None = None


class Execute(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program that is to be run once, in an empty folder."""

    code: str
    language: Short = "python"
    stdin: str = ""
    args: Annotated[Sequence[Annotated[str, Meta(max_length=4096)]], Meta(max_length=256)] = ()
    files: Annotated[Mapping[str, str], Meta(max_length=64)] = {}
    """Files beside it: path → content in base64."""
    fetch_files: Annotated[Sequence[str], Meta(max_length=64)] = ()
    """Files to send back that it left."""
    limits: LimitsAsked = LimitsAsked()
    deadline_seconds: Seconds | None = None


class Executed(msgspec.Struct, frozen=True, kw_only=True):
    """What happened, without judgement."""

    ending: Ending
    exit_code: int | None
    signal: int | None
    stdout: str
    stderr: str
    truncated: bool
    """Whether it was ended because it wrote too much."""
    compiled: bool
    """False if its text was refused before anything of it ran."""
    files: Mapping[str, str] = {}
    missing: Mapping[str, str] = {}
    """Which files were to be fetched but were not, and why."""
    usage: Usage


class OpenSession(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A notebook that is to be opened: one Python process that keeps its names."""

    files: Annotated[Mapping[str, str], Meta(max_length=64)] = {}
    """Files that lie in its folder: path → content in base64."""
    limits: LimitsAsked = LimitsAsked()
    """Of the whole; those on time and output are for each cell."""
    idle_seconds: Annotated[float, Meta(ge=1, le=3600)] = 600.0
    """How long it may go unused before it is closed."""


class SessionAbout(msgspec.Struct, frozen=True, kw_only=True):
    """One open notebook."""

    id: str
    idle_seconds: float
    cells: int
    """How many it was given."""


class Sessions(msgspec.Struct, frozen=True, kw_only=True):
    """The open notebooks of whoever asks."""

    sessions: Sequence[SessionAbout]
    most: int
    """How many there may be."""


class ExecuteCell(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cell for an open notebook."""

    code: str
    timeout_s: Seconds | None = None
    """After which it is interrupted; otherwise, the limit of the session."""
    files: Annotated[Mapping[str, str], Meta(max_length=64)] = {}
    """Files that are written before it runs: path → content in base64."""
    fetch_files: Annotated[Sequence[str], Meta(max_length=64)] = ()
    """Files to send back when it has run."""
    deadline_seconds: Seconds | None = None


class CellError(msgspec.Struct, frozen=True, kw_only=True):
    """What a cell raised."""

    ename: str
    evalue: str
    traceback: Sequence[str]
    """Lines."""


class ExecutedCell(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a cell."""

    stdout: str
    stderr: str
    display: Sequence[Mapping[str, str]]
    """What it showed, each by type of content; images in base64."""
    error: CellError | None
    ending: Ending | None
    """Why it did not run to its end, if something from outside was the reason."""
    alive: bool
    """False if its process has ended, and with it the session."""
    truncated: bool
    """Whether it wrote more than is sent back."""
    files: Mapping[str, str] = {}
    missing: Mapping[str, str] = {}
    """Which files were to be fetched but were not, and why."""
    seconds: float


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request is not answered as asked."""

    code: str
    detail: str
    request_id: str


class BatchAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the answer to a batch; they come in the order in which they are ready."""

    id: str | int
    receipt: Receipt | None = None
    error: Mapping[str, Any] | None = None
    """Code and detail of what is wrong with the line, in place of a receipt."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """How the service is."""

    status: Literal["ok", "ready"]


class BenchmarkAbout(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark that is known by name."""

    name: str
    summary: str
    licence: str
    tasks: int | None
    available: bool
    """Whether its file is on this host."""


class BenchmarkTasks(msgspec.Struct, frozen=True, kw_only=True):
    """The ids of a benchmark's tasks."""

    name: str
    sha256: str
    task_ids: Sequence[str]


class TaskAbout(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task; its tests and solutions only for those who may see them."""

    task_id: str
    benchmark: str
    prompt: str
    entry_point: str | None
    language: str
    sha256: str
    metadata: Any
    limits: Any
    tests: Any = None
    canonical_solution: str | None = None


def decode(text: bytes, kind: type[msgspec.Struct]) -> Any:
    """Read what a request says; what is wrong is said with the name of its field."""
    try:
        record = decode_json(text, kind)
    except (ValueError, RecursionError) as error:
        raise InputError(explain_error(error)) from None
    if is_deeply_nested(text):
        raise InputError(TOO_DEEP)
    return record


def decode_files(files: Mapping[str, str], max_bytes: int) -> dict[str, bytes]:
    """Read the files of a request."""
    decoded = {}
    for path, text in files.items():
        try:
            decoded[path] = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise InputError(f"files: the content of {path[:80]!r} is not base64") from None
    if sum(map(len, decoded.values())) > max_bytes:
        raise InputError(f"files: all together may have at most {max_bytes} bytes")
    return decoded
