"""A benchmark under examination: what has to be run is run once, however many lines ask for it."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec

from proctor.benchmarks import find_all, load, source_of
from proctor.benchmarks.rows import read_all
from proctor.benchmarks.selection import Selection
from proctor.benchmarks.source import Declaration, Source, reader
from proctor.checks.contract.result import SHOWN, Status
from proctor.errors import InputError
from proctor.grading.grade import Grader
from proctor.grading.pipeline import grade_all
from proctor.grading.prepare import Options
from proctor.languages import all_languages, unknown_language
from proctor.records.completion import Completion
from proctor.records.encoding import spelt_out
from proctor.records.receipt import Receipt
from proctor.records.task import (
    Assertions,
    Benchmark,
    CallCases,
    ReferenceCases,
    StdinCases,
    Task,
    TestProgram,
    UnitTests,
)
from proctor.records.verdict import Bucket
from proctor.sandbox import Sandbox
from proctor.storage.jsonl import explain_error, parse_toml, read_whole, shorten

MAX_DECLARATION = 1 << 20


class Evidence(NamedTuple):
    """What was found about one line."""

    word: Status
    evidence: str
    tasks: Sequence[str] = ()
    known: Mapping[str, str] = {}


class ContractSubject(msgspec.Struct, frozen=True, kw_only=True):
    """What is examined, and where it lies."""

    name: str
    source: Source
    paths: Sequence[Path]
    data: Path | None
    folder: Path | None
    declares: Declaration


def contract_subject(
    name: str, data: Path | None = None, folder: Path | None = None
) -> ContractSubject:
    """Find a benchmark by its name, or a tasks file, and what it declares."""
    source = source_of(name)
    if not source.named and data is not None:
        raise InputError(f"--data {data}: {name} is a file itself and needs no other")
    paths = find_all(source, data, folder, Selection()) if source.named else [Path(name)]
    return ContractSubject(
        name=name,
        source=source,
        paths=paths,
        data=data,
        folder=folder,
        declares=_declaration(source, paths[0]),
    )


def _declaration(source: Source, path: Path) -> Declaration:
    """Read what stands in NAME.contract.toml beside a file, unless its source says it."""
    beside = path.with_name(f"{path.name.partition('.')[0]}.contract.toml")
    declared = source.declares
    if declared == Declaration() and beside.is_file():
        try:
            document = parse_toml(beside, read_whole(beside, MAX_DECLARATION))
            declared = msgspec.convert(document, Declaration)
        except msgspec.ValidationError as error:
            raise InputError(f"{beside}: {explain_error(error)}") from None
    for name, (low, high) in declared.difficulty.items():
        if not 0 <= low <= high <= 1:
            raise InputError(
                f"{source.name}: field difficulty.{name} must be two shares from 0 to 1, "
                f"the smaller one first, not {low:g} and {high:g}"
            )
    return declared


class BenchmarkFacts(msgspec.Struct, kw_only=True):
    """All rows, read one by one, so that every one that is wrong is found."""

    rows: int = 0
    ids: set[str] = msgspec.field(default_factory=set)
    wrong: list[str] = msgspec.field(default_factory=list)
    twice: list[str] = msgspec.field(default_factory=list)

    @property
    def is_fit(self) -> bool:
        """Whether there are tasks that can be told apart."""
        return bool(self.rows) and not self.wrong and not self.twice


def read_facts(subject: ContractSubject) -> BenchmarkFacts:
    """Read all rows."""
    found = BenchmarkFacts()
    read = reader(subject.source)
    try:
        for line in read_all(subject.paths):
            found.rows += 1
            try:
                task = read(line)
                trouble = trouble_with(task)
            except InputError as error:
                found.wrong.append(str(error))
                continue
            if trouble is not None:
                found.wrong.append(str(line.error(trouble)))
            if task.task_id in found.ids:
                found.twice.append(task.task_id)
            found.ids.add(task.task_id)
    except InputError as error:  # the rest of the file cannot be read
        found.wrong.append(str(error))
    return found


def trouble_with(task: Task) -> str | None:
    """Say what no reader should let through; records do not check themselves."""
    try:
        text = msgspec.json.encode(task)
    except (TypeError, ValueError):  # values that JSON has no words for are fine
        text = None
    try:
        if text is not None:
            msgspec.json.decode(text, type=Task)
    except msgspec.ValidationError as error:
        return explain_error(error)
    if not task.task_id:
        return "task_id is empty"
    if spelt_out(task.task_id) != task.task_id:
        return f"task_id {shorten(task.task_id)} is no text that UTF-8 can hold"
    if task.language not in all_languages():
        return f"language is {task.language!r}; {unknown_language(task.language)}"
    if min(task.limits.cpu_seconds, task.limits.wall_seconds) <= 0:
        return "its time limit is not above 0"
    return _no_tests(task)


def _no_tests(task: Task) -> str | None:
    match task.tests:
        case CallCases(inputs=inputs, outputs=outputs) | StdinCases(inputs=inputs, outputs=outputs):
            if len(inputs) != len(outputs):
                return f"tests has {len(inputs)} inputs but {len(outputs)} outputs"
            return None if inputs else "tests.inputs is empty"
        case Assertions(targets=targets):
            return None if targets else "tests.targets is empty"
        case ReferenceCases(inputs=inputs):
            return None if inputs else "tests.inputs is empty"
        case tests:
            return None if tests.code.strip() else "tests.code is empty"


Watch = Callable[[Receipt], None]


class Contract:
    """One benchmark under examination, and the results that its lines share."""

    def __init__(
        self,
        subject: ContractSubject,
        sandbox: Sandbox,
        *,
        first: int = 0,
        workers: int = 1,
        watch: Watch = lambda _: None,
        stop: threading.Event | None = None,
    ) -> None:
        self.subject = subject
        self.sandbox = sandbox
        self.workers = workers
        self.stop = stop or threading.Event()
        self._first = first
        self._watch = watch

    @cached_property
    def facts(self) -> BenchmarkFacts:
        """All rows, as they are."""
        return read_facts(self.subject)

    @cached_property
    def whole(self) -> Benchmark:
        """All tasks; an InputError if they cannot be read."""
        if not self.facts.is_fit:
            raise InputError(f"{self.subject.name}: its tasks cannot be read")
        subject = self.subject
        return load(subject.name, subject.data, subject.folder)

    @cached_property
    def benchmark(self) -> Benchmark:
        """The tasks that are looked at."""
        return self.whole.first(self._first) if self._first else self.whole

    @cached_property
    def references(self) -> dict[str, list[Receipt]]:
        """Every reference, run twice."""
        return self._by_task(self.grade(self.benchmark, self._reference_answers()))

    @cached_property
    def reused(self) -> dict[str, list[Receipt]]:
        """The same two draws of every reference, of which the second is not run again."""
        return self._by_task(self.grade(self.benchmark, self._reference_answers(), reuse=True))

    @cached_property
    def right(self) -> dict[str, Task]:
        """Tasks whose references pass both times."""
        passing = {
            task_id
            for task_id, receipts in self.references.items()
            if all(receipt.bucket is Bucket.PASSED for receipt in receipts)
        }
        return {task.task_id: task for task in self.benchmark.tasks if task.task_id in passing}

    def grade(
        self, benchmark: Benchmark, completions: Iterable[Completion], *, reuse: bool = False
    ) -> Iterator[Receipt]:
        """Grade completions; a KeyboardInterrupt ends all when somebody asked for that."""
        options = Options(reuse=reuse, workers=self.workers)
        grader = Grader(self.sandbox, options)
        for receipt in grade_all(grader, benchmark, completions, self.stop):
            self._watch(receipt)
            yield receipt
        if self.stop.is_set():
            raise KeyboardInterrupt

    def evidence_for(
        self, line: str, bad: Mapping[str, str], *, unscored: Mapping[str, str], good: str
    ) -> Evidence:
        """Return the evidence for a line; tasks that are known to break it do not count."""
        listed = self.subject.declares.known.get(line, {})
        inorder = [task_id for task_id in self.benchmark.ids if task_id in bad]
        known = {task_id: listed[task_id] for task_id in inorder if task_id in listed}
        counted = [task_id for task_id in inorder if task_id not in known]
        said = f"; known to the benchmark: {', '.join(list(known)[:SHOWN])}" if known else ""
        if counted:
            evidence = f"{len(counted)} of {len(self.benchmark.tasks)} tasks: {counted[0]}: "
            word, evidence = Status.BROKEN, evidence + bad[counted[0]]
        elif unscored:
            task_id, why = next(iter(unscored.items()))
            word = Status.UNKNOWN
            evidence = f"{len(unscored)} tasks could not be judged here: {task_id}: {why}"
        else:
            word, evidence = Status.HELD, good
        return Evidence(word, evidence + said, counted[:SHOWN], known)

    def _reference_answers(self) -> Iterator[Completion]:
        for index, task in enumerate(self.benchmark.tasks):
            for sample in (0, 1) if task.canonical_solution is not None else ():
                yield answer_task(task, task.canonical_solution or "", sample, index)

    def _by_task(self, receipts: Iterable[Receipt]) -> dict[str, list[Receipt]]:
        found: dict[str, list[Receipt]] = {}
        for receipt in receipts:
            found.setdefault(receipt.task_id, []).append(receipt)
        return {
            task_id: sorted(found[task_id], key=lambda one: one.sample)
            for task_id in self.benchmark.ids
            if task_id in found
        }


def answer_task(
    task: Task, text: str, sample: int = 0, index: int = 0, *, whole: bool = False
) -> Completion:
    """Return a completion with this text."""
    return Completion(
        task_id=task.task_id,
        sample=sample,
        id=f"{index}_s{sample}",
        completion=text,
        whole=whole,
        model="contract",
    )


def is_our_failure(receipt: Receipt) -> bool:
    """Say whether a sample is unscored by our fault, not by the benchmark's."""
    return receipt.outcome is None and receipt.bucket is not Bucket.BENCHMARK


def is_together(task: Task) -> bool:
    """Say whether tests are of a kind that shares a process with the candidate."""
    return isinstance(task.tests, TestProgram | UnitTests)
