"""Runs, and samples of any tool, as files that other tools take: `proctor convert`.

Formats with a line or a file for every sample are written as samples come. Those that want all
samples of a task together get them by way of a temporary file, so that never more than one
task's are in memory.
"""

import gzip
import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from proctor.benchmarks import TABLE, load
from proctor.errors import InputError, boundary
from proctor.formats import bigcode, evalplus, human_eval, livecodebench, multipl_e
from proctor.formats.record import Record
from proctor.grading.prepare import Options, build_program, extract_code
from proctor.models.recorded import RecordedSamples
from proctor.records.completion import Completion, Sampling
from proctor.records.encoding import encode
from proctor.records.extraction import NoCode
from proctor.records.receipt import Manifest
from proctor.records.task import Benchmark, ReferenceCases, Task
from proctor.records.verdict import OUTCOMES, Bucket, Outcome
from proctor.results.summary import summarize
from proctor.storage.journal import read_journal
from proctor.storage.json_array import CHUNK
from proctor.storage.jsonl import is_folder, open_bytes
from proctor.storage.run_directory import COMPLETIONS, MANIFEST, RECEIPTS, read_manifest, replacing

MAX_SHOWN = 1024


class Converted(msgspec.Struct, frozen=True, kw_only=True):
    """What was written."""

    format: str
    out: str
    tasks: int
    samples: int
    unscored: int
    """Samples that were left out: nothing is known about them, and no format can say so."""


class _Test(msgspec.Struct):
    """The fields of a test result that are read here."""

    index: int
    passed: bool
    group: str = ""


class _PartialReceipt(msgspec.Struct):
    """The fields of a receipt that are read here."""

    task_id: str
    sample: int
    outcome: Outcome | None
    bucket: Bucket
    detail: str
    stdout: str
    stderr: str
    tests: list[_Test]
    groups: dict[str, Bucket] = {}

    def kept(self, *, every_failure: bool) -> "_PartialReceipt":
        """Return a copy with failed tests only, all or the first of each part."""
        failures = [test for test in self.tests if not test.passed]
        first = {test.group: test for test in reversed(failures)}
        return msgspec.structs.replace(
            self,
            tests=failures if every_failure else list(first.values()),
            stdout=self.stdout[:MAX_SHOWN],
            stderr=self.stderr[:MAX_SHOWN],
        )


class ExportedRun:
    """A run directory as a source of samples."""

    def __init__(self, path: Path, *, every_failure: bool = False) -> None:
        self._path = path
        self._every_failure = every_failure
        self._manifest = read_manifest(path)
        self.benchmark = _benchmark_of(self._manifest)
        self.unscored = 0

    def records(self) -> Iterator[Record]:
        """Yield every sample that has a verdict, in the order they were given."""
        tasks = {task.task_id: task for task in self.benchmark.tasks}
        options = Options(extract=self._manifest.extract, preamble=self._manifest.preamble)  # type: ignore[arg-type]
        receipts = read_journal(self._path / RECEIPTS, _PartialReceipt)
        every = self._every_failure
        judged = {(one.task_id, one.sample): one.kept(every_failure=every) for one in receipts}
        if len(judged) != self._manifest.samples:
            raise InputError(f"{self._path} is not complete; run the same command again")
        timestamp = int(datetime.fromisoformat(self._manifest.created).timestamp())
        for completion in read_journal(self._path / COMPLETIONS, Completion):
            found = judged[completion.task_id, completion.sample]
            if found.outcome is None:
                self.unscored += 1
                continue
            task = tasks[completion.task_id]
            yield msgspec.structs.replace(
                _record(task, completion, options), timestamp=timestamp, **_verdict(task, found)
            )

    def figures(self) -> dict[str, dict[str, float | None]]:
        """Return pass@k as EvalPlus calls its parts."""
        summary = summarize(self._path)
        parts = {"base": summary.pass_at_k}
        if summary.groups:
            names = ("base", "plus")
            figures = (part.pass_at_k for part in summary.groups.values())
            parts = dict(zip(names, figures, strict=False))
        return {
            name: {f"pass@{k}": estimate.value for k, estimate in part.items()}
            for name, part in parts.items()
        }


class ExportedSamples:
    """A samples file of any tool as a source of samples."""

    unscored = 0

    def __init__(self, path: Path, benchmark: Benchmark, options: Options) -> None:
        self._source = RecordedSamples(path)
        self.benchmark = benchmark
        self._options = options

    def records(self) -> Iterator[Record]:
        """Yield every sample."""
        tasks = {task.task_id: task for task in self.benchmark.tasks}
        for completion in self._source.complete(self.benchmark, Sampling()):
            record = _record(tasks[completion.task_id], completion, self._options)
            yield msgspec.structs.replace(record, **_recorded(completion.more))

    def figures(self) -> dict[str, Any]:
        """Refuse: nobody judged them."""
        raise InputError("these are samples without verdicts; score them first")


def _benchmark_of(manifest: Manifest) -> Benchmark:
    """Load what a run was about, from where it was then, or from where it is found now."""
    source = Path(manifest.source)
    if manifest.benchmark not in TABLE:
        return load(manifest.source)
    return load(manifest.benchmark, source if source.exists() else None)


def _record(task: Task, completion: Completion, options: Options) -> Record:
    extraction = extract_code(task, completion, options)
    solution = ""
    if not isinstance(extraction, NoCode):
        solution = build_program(task, completion, extraction, options).source
    return Record(
        task_id=task.task_id,
        sample=completion.sample,
        prompt=task.prompt,
        entry_point=task.entry_point,
        solution=solution,
        completion=None if completion.whole else completion.completion,
    )


def _verdict(task: Task, found: _PartialReceipt) -> dict[str, Any]:
    inputs = task.tests.inputs if isinstance(task.tests, ReferenceCases) else ()
    return {
        "passed": found.outcome is Outcome.PASS,
        "outcome": found.outcome,
        "bucket": found.bucket,
        "detail": found.detail,
        "groups": {name: OUTCOMES[bucket] for name, bucket in found.groups.items()},
        "failed": _failed(found.tests, inputs),
        "stdout": found.stdout,
        "stderr": found.stderr,
    }


def _failed(tests: Iterable[_Test], inputs: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the inputs that failed, by part."""
    failed: dict[str, list[Any]] = {}
    for test in tests:
        if test.index < len(inputs):
            failed.setdefault(test.group, []).append(_plain(inputs[test.index]))
    return failed


def _recorded(more: Mapping[str, Any]) -> dict[str, Any]:
    """Return what another tool said of a sample, if it said anything."""
    words = {name: more.get(f"{name}_status") for name in ("base", "plus")}
    groups = {name: word for name, word in words.items() if isinstance(word, str)}
    passed = more.get("passed")
    if groups:
        passed = all(word == "pass" for word in groups.values())
    if not isinstance(passed, bool):
        return {}
    said = more.get("result", more.get("status", ""))
    timeout = "timeout" in groups.values() or said in ("timed out", "Timeout")
    outcome = "pass" if passed else "timeout" if timeout else "assertion_fail"
    return {"passed": passed, "outcome": outcome, "groups": groups, "detail": str(said)[:MAX_SHOWN]}


def _plain(value: Any) -> Any:
    """Return a value as JSON can have it."""
    match value:
        case dict():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(item) for item in value]
        case str() | bool() | int() | float() | None:
            return value
    return repr(value)


class ByTask:
    """Samples in a temporary file, to be had task by task."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  it goes with us
        self._places: dict[str, list[int]] = {}
        for record in records:
            self._places.setdefault(record.task_id, []).append(self._file.tell())
            self._file.write(encode(record) + b"\n")

    def tasks(self, benchmark: Benchmark) -> Iterator[list[Record]]:
        """Yield all samples of each task that has any, in the order of the benchmark."""
        for task in benchmark.tasks:
            found = []
            for place in self._places.get(task.task_id, ()):
                self._file.seek(place)
                found.append(msgspec.json.decode(self._file.readline(), type=Record))
            if found:
                yield found


def _of_every_task(tasks: Iterable[list[Record]], benchmark: Benchmark) -> Iterator[list[Record]]:
    """Make sure that no task is missing, where only the order tells which is which."""
    there = iter(tasks)
    for task in benchmark.tasks:
        records = next(there, None)
        if records is None or records[0].task_id != task.task_id:
            raise InputError(f"bigcode goes by order, and there is no sample for {task.task_id}")
        yield records


def ours(record: Record) -> str:
    """Return a sample as a line of a samples file of ours."""
    row: dict[str, Any] = {"task_id": record.task_id, "solution": record.solution}
    if record.passed is not None:
        row |= {"passed": record.passed, "outcome": record.outcome, "bucket": record.bucket}
    for name, outcome in record.groups.items():
        row[f"{name}_status"] = evalplus.STATUS.get(outcome, "fail")
    return json.dumps(row) + "\n"


Source = ExportedRun | ExportedSamples
LINES: Mapping[str, Callable[[Record], str]] = {
    "samples": ours,
    "human-eval": human_eval.write,
    "evalplus": evalplus.write_samples,
}
DOCUMENTS = ("evalplus-results", "bigcode", "livecodebench")
FOLDERS = ("evalplus-folder", "multipl-e")
FORMATS = (*LINES, *DOCUMENTS, *FOLDERS)


def export(source: Source, to: str, out: Path) -> Converted:
    """Write all samples of a source in a format; a file is there whole or not at all."""
    counts: Counter[str] = Counter()

    def counted() -> Iterator[Record]:
        for record in source.records():
            counts[record.task_id] += 1
            yield record
        if not counts:
            raise InputError(f"{out}: there are no samples to write")

    with boundary(InputError, f"cannot write {out}"):
        if to in FOLDERS:
            _write_folder(source, to, counted(), out)
        else:
            _write_file(out, _texts(source, to, counted()))
    return Converted(
        format=to,
        out=str(out),
        tasks=len(counts),
        samples=counts.total(),
        unscored=source.unscored,
    )


def _texts(source: Source, to: str, records: Iterator[Record]) -> Iterator[str]:
    if to in LINES:
        return map(LINES[to], records)
    if to == "evalplus-results":
        figures = source.figures()
        tasks = ByTask(records).tasks(source.benchmark)
        return evalplus.write_results(tasks, _head(source.benchmark), figures)
    tasks = ByTask(records).tasks(source.benchmark)
    if to == "livecodebench":
        return livecodebench.write(tasks)
    return bigcode.write(_of_every_task(tasks, source.benchmark))


def _head(benchmark: Benchmark) -> dict[str, str]:
    """Return what EvalPlus writes before its results: the time, and the digest of its data."""
    digest = hashlib.md5(usedforsecurity=False)
    path = Path(benchmark.source)
    if path.is_file():
        with open_bytes(path) as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
    return {"date": f"{datetime.now().astimezone():%Y-%m-%d %H:%M}", "hash": digest.hexdigest()}


def _write_file(out: Path, texts: Iterable[str]) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    opener: Any = gzip.open if out.suffix == ".gz" else open
    with (
        replacing(out) as place,
        opener(place, "wt", encoding="utf-8", newline="\n") as file,
    ):
        file.writelines(texts)


def _write_folder(source: Source, to: str, records: Iterator[Record], out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} is not an empty folder; name another --out")
    out.mkdir(parents=True, exist_ok=True)
    if to == "evalplus-folder":
        for record in records:
            evalplus.write_folder(record, out)
        return
    source.figures()  # which says so if nobody judged them
    for task in ByTask(records).tasks(source.benchmark):
        multipl_e.write(task, out)


def is_run(path: Path) -> bool:
    """Say whether a folder is that of a run."""
    return is_folder(path) and (path / MANIFEST).is_file()
