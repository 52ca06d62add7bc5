"""Datasets as SandboxFusion's clients know them, and the benchmarks of ours that they are.

A problem may come with the request as well: rows in the shape of a benchmark, of a tasks file, or
of its `CommonOJDataset` (texts for standard input and expected of standard output).
"""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec

from proctor.benchmarks import TABLE, find_all, similar_source
from proctor.benchmarks.selection import Selection
from proctor.errors import InputError
from proctor.models.prompting import Strategy, render_prompt
from proctor.records.task import Benchmark, StdinCases, Task
from proctor.server.compat.sandboxfusion.answers import Prompt
from proctor.server.compat.sandboxfusion.requests import Config, GetPrompt, GetPrompts
from proctor.server.compat.sandboxfusion.running import runnable
from proctor.server.errors import ErrorResponse
from proctor.server.service import Service
from proctor.storage.jsonl import Line

DATASETS = {
    "code_contests": "code_contests",
    "multiple_cpp": "multipl-e-cpp",
    "multiple_ts": "multipl-e-ts",
    "multiple_go": "multipl-e-go",
    "multiple_java": "multipl-e-java",
    "multiple_js": "multipl-e-js",
    "multiple_rs": "multipl-e-rs",
    "humaneval_python": "humaneval",
    "humaneval_cpp": "multipl-e-cpp",
    "humaneval_typescript": "multipl-e-ts",
    "humaneval_go": "multipl-e-go",
    "humaneval_java": "multipl-e-java",
    "bigcodebench": "bigcodebench",
    "live_code_bench_v1": "livecodebench",
    "mbpp": "mbpp",
}
"""Its name → ours. Every benchmark of ours is a dataset under its own name, too."""
NUMBERED = {"mbpp": "MBPP/", "mbpp-sanitized": "MBPP/"}
"""Benchmarks whose problems have numbers there, and what we put in front of them."""
ROWS = Path("provided_data")
MAX_ROWS = 1000


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One task under the id that a client knows it by."""

    id: int | str
    task: Task


def names(service: Service) -> list[str]:
    """Return the datasets whose file is on this machine."""
    folder = None if service.settings.data is None else Path(service.settings.data)
    here = set()
    for name, source in TABLE.items():
        try:
            find_all(source, None, folder, Selection())
        except InputError:
            continue
        here.add(name)
    theirs = [dataset for dataset, name in DATASETS.items() if name in here]
    return [*theirs, *(name for name in TABLE if name in here and name not in theirs)]


def problems(service: Service, request: GetPrompts) -> list[Problem]:
    """Return some problems of a dataset, in order."""
    first = max(request.offset, 0)
    last = first + max(request.limit, 0)
    rows = _rows(request.dataset, request.config)
    if rows is not None:
        chosen = list(enumerate(rows))[first:last]
        return [_inline(row, index, request.config) for index, row in chosen]
    benchmark = _benchmark(service, request.dataset)
    find = benchmark.finder()
    ids = benchmark.ids[first:last]
    return [_problem(benchmark, find(task_id), request.config) for task_id in ids]


def ids(service: Service, request: GetPrompts) -> list[int | str]:
    """Return the ids of some problems."""
    if request.config.provided_data is not None:
        return [problem.id for problem in problems(service, request)]
    benchmark = _benchmark(service, request.dataset)
    first = max(request.offset, 0)
    chosen = benchmark.ids[first : first + max(request.limit, 0)]
    return [_id(benchmark.name, task_id) for task_id in chosen]


def problem(service: Service, request: GetPrompt) -> Problem:
    """Return one problem by its id; a single row that came along is the one, whatever its id."""
    rows = _rows(request.dataset, request.config)
    if rows is not None:
        for index, row in enumerate(rows):
            if len(rows) == 1 or str(_row_id(row, index)) == str(request.id):
                return _inline(row, index, request.config)
        raise _bad(f"provided_data: no row has the id {_shown(request.id)}")
    benchmark = _benchmark(service, request.dataset)
    wanted = str(request.id)
    known = {*benchmark.ids}
    task_id = wanted if wanted in known else benchmark.aliases.get(wanted)
    if task_id is None or task_id not in known:
        raise _bad(f"dataset {request.dataset} has no problem {_shown(request.id)}")
    return _problem(benchmark, benchmark.finder()(task_id), request.config)


def shown(problem: Problem, config: Config) -> Prompt:
    """Show a problem to a model: what it goes on with, or a question if that is asked for."""
    task = problem.task
    asks = bool(config.extra.get("is_freeform")) or isinstance(task.tests, StdinCases)
    strategy: Strategy = (
        "few-shot" if config.is_fewshot and task.language == "python" else "standard"
    )
    prompt = render_prompt(task, strategy, chat=asks)
    text = task.prompt if not asks and prompt.text == task.prompt.rstrip() else prompt.text
    about = {
        "language": task.language,
        "entry_point": task.entry_point,
        "difficulty": task.metadata.difficulty,
        "tags": list(task.metadata.tags),
        "date": task.metadata.date,
    }
    labels = {name: value for name, value in about.items() if value}
    return Prompt(id=problem.id, prompt=text, labels=labels)


def _benchmark(service: Service, dataset: str) -> Benchmark:
    name = DATASETS.get(dataset, dataset)
    if name not in TABLE:
        raise _bad(f"no eval class found for dataset {_shown(dataset)}")
    try:
        return service.benchmark(name)
    except InputError as error:
        raise _bad(str(error)) from None


def _problem(benchmark: Benchmark, task: Task, config: Config) -> Problem:
    return Problem(id=_id(benchmark.name, task.task_id), task=_in_language(task, config))


def _id(name: str, task_id: str) -> int | str:
    number = task_id.removeprefix(NUMBERED.get(name, ""))
    return int(number) if name in NUMBERED and number.isdecimal() else task_id


def _in_language(task: Task, config: Config) -> Task:
    """Return a task for a program in the language asked for, if it is one about whole programs."""
    if config.language is None or not isinstance(task.tests, StdinCases):
        return task
    language = runnable().get(config.language)
    if language is None:
        raise _bad(f"config.language: {config.language} does not run here")
    return msgspec.structs.replace(task, language=language.name)


def _rows(dataset: str, config: Config) -> Sequence[Mapping[str, Any]] | None:
    rows = config.provided_data
    if rows is None:
        return None
    if config.dataset_type is None and DATASETS.get(dataset, dataset) not in TABLE:
        raise _bad(f"no eval class found for dataset {_shown(dataset)}")
    if not 0 < len(rows) <= MAX_ROWS:
        raise _bad(f"provided_data: {len(rows)} rows; from 1 to {MAX_ROWS} are allowed")
    return rows


def _inline(row: Mapping[str, Any], index: int, config: Config) -> Problem:
    try:
        task = _contest(row) or _known(row, index)
    except InputError as error:
        raise _bad(str(error)) from None
    return Problem(id=_row_id(row, index), task=_in_language(task, config))


def _row_id(row: Mapping[str, Any], index: int) -> int | str:
    found = row.get("id", row.get("task_id", row.get("name", index)))
    return found if isinstance(found, int | str) else index


def _known(row: Mapping[str, Any], index: int) -> Task:
    """Read a row in the shape of a benchmark or of a tasks file."""
    source = similar_source(dict(row), "provided_data", ROWS.name)
    return source.read(Line(ROWS, index + 1, json.dumps(row).encode(), "row"))


def _contest(row: Mapping[str, Any]) -> Task | None:
    """Read a row with texts for standard input, if it is one."""
    content, cases = row.get("content"), row.get("test")
    if not isinstance(content, str):
        return None
    try:
        given = json.loads(cases) if isinstance(cases, str) else cases
        found = msgspec.convert(given, list[_Case])
    except (ValueError, RecursionError) as error:
        raise InputError(f"provided_data, field test: {error}") from None
    if not found:
        raise InputError("provided_data, field test: there are no tests in it")
    if any({*case.input} != {"stdin"} or {*case.output} != {"stdout"} for case in found):
        raise InputError("provided_data, field test: only stdin and stdout are known, no files")
    tests = StdinCases(
        inputs=[case.input["stdin"] for case in found],
        outputs=[case.output["stdout"] for case in found],
    )
    return Task(task_id=str(_row_id(row, 0)), prompt=content, tests=tests)


class _Case(msgspec.Struct):
    """What goes in and what has to come out."""

    input: dict[str, str]
    output: dict[str, str]


def _bad(said: str) -> ErrorResponse:
    return ErrorResponse(HTTPStatus.BAD_REQUEST, "invalid", said)


def _shown(name: object) -> str:
    return str(name)[:80]
