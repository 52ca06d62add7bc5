"""Compatibility with `evalplus.evaluate`: its data, its results file, its figures."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.records.task import ReferenceCases, Task
from proctor.results.pass_at_k import default_ks, pass_at_k
from proctor.settings import environment_variable
from proctor.storage.jsonl import explain_error, read_whole

BENCHMARKS = {"humaneval": "humaneval+", "mbpp": "mbpp+"}
OVERRIDES = {"humaneval": "HUMANEVAL_OVERRIDE_PATH", "mbpp": "MBPP_OVERRIDE_PATH"}
"""Environment variables that tell EvalPlus where its data are."""
VERSIONS = {"humaneval": ("default", "v0.1.10"), "mbpp": ("default", "v0.2.0")}
MAX_RESULTS = 4 << 30
PASS = "pass"


class Sample(msgspec.Struct):
    """The fields of a sample's results that figures need."""

    base_status: str | None = None
    plus_status: str | None = None


class Results(msgspec.Struct):
    """A file of results."""

    eval: dict[str, list[Sample]]


def data_of(dataset: str, data: Path | None, *, variant: str, version: str) -> Path | None:
    """Return the path of the data if the user named one; a variant needs one."""
    if dataset not in BENCHMARKS:
        raise InputError(f"--dataset {dataset}: must be one of {', '.join(BENCHMARKS)}")
    named = environment_variable(OVERRIDES[dataset])
    path = data or (Path(named) if named else None)
    if path is not None:
        return path
    hint = f"name the file by --data or {OVERRIDES[dataset]}"
    if variant:
        raise InputError(f"--{variant}: is a file of its own; {hint}")
    if version not in VERSIONS[dataset]:
        raise InputError(f"--version {version}: known is {VERSIONS[dataset][-1]}; {hint}")
    return None


def results_of(samples: Path) -> Path:
    """Return where EvalPlus looks for the results of samples."""
    if samples.is_dir():
        return samples / "eval_results.json"
    stem, dot, _ = samples.name.rpartition(".jsonl")
    if not dot:
        raise InputError(f"--samples {samples}: must be a folder or a file called *.jsonl")
    return samples.with_name(f"{stem}_eval_results.json")


def changed(
    task: Task, *, base_only: bool, seconds: float | None = None, factor: float | None = None
) -> Task:
    """Return a task with the tests and the time that were asked for."""
    tests = task.tests
    if isinstance(tests, ReferenceCases):
        if base_only:
            count = tests.groups["base"]
            also = {index: value for index, value in tests.also.items() if index < count}
            tests = msgspec.structs.replace(
                tests, inputs=tests.inputs[:count], groups={"base": count}, also=also
            )
        if factor is not None:
            tests = msgspec.structs.replace(tests, patience=factor)
    limits = task.limits if seconds is None else task.limits.with_seconds(seconds)
    return msgspec.structs.replace(task, tests=tests, limits=limits)


def read_results(path: Path) -> Results:
    """Read what was found before, by us or by EvalPlus."""
    try:
        return msgspec.json.decode(read_whole(path, MAX_RESULTS), type=Results)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(
            f"{path}: {explain_error(error)}; --i-just-wanna-run makes it anew"
        ) from None


def figures(results: Results, *, base_only: bool) -> dict[str, dict[str, float]]:
    """Return pass@k of the base tests, and of all of them."""
    every = [samples for samples in results.eval.values() if samples]
    parts = {"base": [[one.base_status == PASS for one in task] for task in every]}
    if not base_only and any(one.plus_status is not None for task in every for one in task):
        parts["plus"] = [
            [one.base_status == one.plus_status == PASS for one in task] for task in every
        ]
    return {name: dict(_means(tasks)) for name, tasks in parts.items()}


def _means(tasks: Sequence[Sequence[bool]]) -> Iterator[tuple[str, float]]:
    for k in default_ks([len(task) for task in tasks]):
        values = [pass_at_k(len(task), sum(task), k) for task in tasks]
        yield f"pass@{k}", sum(values) / len(values)


def lines(dataset: str, parts: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield what EvalPlus prints."""
    for part, found in parts.items():
        yield f"{dataset} (base tests)" if part == "base" else f"{dataset}+ (base + extra tests)"
        for name, value in found.items():
            yield f"{name}:\t{value:.3f}"


def make_room(path: Path) -> Path | None:
    """Move a file out of the way, as EvalPlus does; return where it is now."""
    if not path.exists():
        return None
    place = path.with_name(path.name + ".bak")
    while place.exists():
        place = place.with_name(place.name + ".bak")
    path.rename(place)
    return place
