"""The four axes of a run, side by side: compiles, keeps to its context, makes nothing up, is right.

The first and the last are in a run's receipts. The two in between come from reading every candidate
where it stood. No axis is given without what it leaves out.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import msgspec

from proctor.axes.finding import COUNTED, FindingReader, SampleStatus, check_finding
from proctor.axes.parser import Parser
from proctor.errors import InputError
from proctor.grading.prepare import Options, build_program, extract_code
from proctor.records.completion import Completion
from proctor.records.extraction import NoCode
from proctor.records.receipt import Manifest
from proctor.records.repository import MARK, Repository
from proctor.records.task import Benchmark, Task, TestProgram
from proctor.records.verdict import OUTCOMES, Bucket, Outcome
from proctor.results.pass_at_k import Estimate, Tally, estimate, mean
from proctor.storage.journal import read_journal
from proctor.storage.jsonl import explain_error, read_whole
from proctor.storage.run_directory import AXES, COMPLETIONS, RECEIPTS

NOT_LINKED = "not_linked"
UNIT = "main.cpp"
Step = Callable[[], None]


class PartialReceipt(msgspec.Struct, frozen=True):
    """The fields of a receipt that are read here."""

    task_id: str
    sample: int
    bucket: Bucket
    notes: Sequence[str] = ()

    @property
    def compiled(self) -> bool | None:
        """Whether it compiled; None if that is not known, or not its own fault."""
        if OUTCOMES[self.bucket] is None or self.bucket is Bucket.COMPILE_RESOURCE:
            return None
        if self.bucket is Bucket.NO_CODE:
            return False
        return OUTCOMES[self.bucket] is not Outcome.SYNTAX_ERROR or NOT_LINKED in self.notes

    @property
    def correct(self) -> bool | None:
        """Whether all tests pass; None if nothing is known."""
        outcome = OUTCOMES[self.bucket]
        return None if outcome is None else outcome is Outcome.PASS


class SampleAxes(msgspec.Struct, frozen=True, kw_only=True):
    """One sample on all four axes; None: it is left out of that axis."""

    task_id: str
    sample: int
    bucket: Bucket
    compiled: bool | None
    adherence: float | None
    invents: bool | None
    correct: bool | None
    reading: FindingReader | None
    """None: there is no code in the answer."""


class TaskAxes(msgspec.Struct, frozen=True, kw_only=True):
    """One task on all four axes: means over its samples, None where all are left out."""

    task_id: str
    samples: int
    compile: float | None
    adherence: float | None
    hallucination: float | None
    correctness: float | None
    excluded: int
    """Samples that the parser has no say about."""


class Axes(msgspec.Struct, frozen=True, kw_only=True):
    """A run on all four axes."""

    benchmark: str
    model: str
    run_dir: str
    samples: int
    compile: Estimate
    adherence: Estimate
    hallucination: Estimate
    correctness: Estimate
    excluded: Mapping[str, int]
    """Samples that are in no rate of the parser's, by why."""
    resource: int
    """Samples whose compiler ran out of something: in no compile probability."""
    findings: Mapping[str, int]
    """How many samples have findings of a kind."""
    parser: str
    tasks: Sequence[TaskAxes]
    details: Sequence[SampleAxes]
    schema: int = 1


class Candidate(NamedTuple):
    """A sample's code and where it stands."""

    task: Task
    sample: int
    context: Repository | None
    """None: there is no code."""
    code: str


def measure_axes(
    run_dir: Path,
    manifest: Manifest,
    benchmark: Benchmark,
    parser: Parser,
    *,
    workers: int = 1,
    seed: int = 0,
    step: Step = lambda: None,
) -> Axes:
    """Put all samples of a run on the four axes."""
    if "cpp" not in benchmark.languages:
        raise InputError(f"{benchmark.name}: the axes are for C++, and no task of it is in C++")
    judged = {
        (one.task_id, one.sample): one
        for one in read_journal(
            run_dir / RECEIPTS, PartialReceipt, lambda _, n: n < manifest.samples
        )
    }
    groups = _grouped(_candidates(run_dir, manifest, benchmark))

    def read(group: list[Candidate]) -> list[SampleAxes]:
        found = _read(parser, group)
        placed = [
            _placed(judged[one.task.task_id, one.sample], reading)
            for one, reading in found
            if (one.task.task_id, one.sample) in judged
        ]
        step()
        return placed

    with ThreadPoolExecutor(max(workers, 1)) as pool:
        details = [one for group in pool.map(read, groups) for one in group]
    return _summed(run_dir, manifest, details, parser.version, seed)


def groups_of(run_dir: Path, manifest: Manifest, benchmark: Benchmark) -> int:
    """Return how many steps measuring a run takes."""
    return len(_grouped(_candidates(run_dir, manifest, benchmark)))


def _candidates(run_dir: Path, manifest: Manifest, benchmark: Benchmark) -> Iterator[Candidate]:
    options = Options(extract=manifest.extract, preamble=manifest.preamble, workers=1)  # type: ignore[arg-type]
    find = benchmark.finder()
    for one in read_journal(run_dir / COMPLETIONS, Completion, lambda _, n: n < manifest.samples):
        try:
            task = find(one.task_id)
        except KeyError:
            raise InputError(f"{run_dir}: {benchmark.name} has no task {one.task_id}") from None
        if task.language == "cpp":
            yield _candidate(task, one, options)


def _candidate(task: Task, completion: Completion, options: Options) -> Candidate:
    extraction = extract_code(task, completion, options)
    if isinstance(extraction, NoCode):
        return Candidate(task, completion.sample, None, "")
    if task.context is not None:
        return Candidate(task, completion.sample, task.context, extraction.code)
    source = build_program(task, completion, extraction, options).source
    code = extraction.code if source.endswith(extraction.code) else source
    return Candidate(task, completion.sample, alone(task, source.removesuffix(code)), code)


def alone(task: Task, front: str) -> Repository:
    """Return the context of a task that has none: what stands in front of its answer."""
    setup = task.tests.setup if isinstance(task.tests, TestProgram) else ""
    front = f"{setup.rstrip()}\n{front}" if setup.strip() else front
    return Repository(files={UNIT: front.replace(MARK, "") + MARK}, unit=UNIT)


def _grouped(candidates: Iterator[Candidate]) -> list[list[Candidate]]:
    """Put together what stands in the same place."""
    groups: dict[object, list[Candidate]] = defaultdict(list)
    for one in candidates:
        unit = None if one.context is None else one.context.files[one.context.unit]
        groups[one.task.task_id, unit].append(one)
    return list(groups.values())


def _read(parser: Parser, group: list[Candidate]) -> list[tuple[Candidate, FindingReader | None]]:
    first = group[0]
    if first.context is None:
        return [(one, None) for one in group]
    reference = first.task.canonical_solution
    if first.task.context is None and first.task.prompt not in first.context.files[UNIT]:
        reference = None  # it goes on from the prompt, and here is none
    readings = parser.read(first.context, reference, [one.code for one in group])
    return list(zip(group, readings, strict=True))


def _placed(receipt: PartialReceipt, reading: FindingReader | None) -> SampleAxes:
    """Put one sample on all axes."""
    if reading is not None:
        unclear = receipt.bucket is Bucket.COMPILE_TIMEOUT
        reading = check_finding(reading, compiled=None if unclear else receipt.compiled)
    counted = reading is not None and reading.status in COUNTED
    return SampleAxes(
        task_id=receipt.task_id,
        sample=receipt.sample,
        bucket=receipt.bucket,
        compiled=receipt.compiled,
        adherence=reading.adherence if counted and reading else None,
        invents=reading.invented > 0 if counted and reading else None,
        correct=receipt.correct,
        reading=reading,
    )


def _summed(
    run_dir: Path, manifest: Manifest, details: Sequence[SampleAxes], parser: str, seed: int
) -> Axes:
    by_task: dict[str, list[SampleAxes]] = defaultdict(list)
    for one in sorted(details, key=lambda one: (one.task_id, one.sample)):
        by_task[one.task_id].append(one)
    adherence = {
        task: [one.adherence for one in ones if one.adherence is not None]
        for task, ones in by_task.items()
    }
    without = sum(one.adherence is None for one in details)
    return Axes(
        benchmark=manifest.benchmark,
        model=manifest.model,
        run_dir=str(run_dir),
        samples=len(details),
        compile=_rate(by_task, lambda one: one.compiled, seed),
        adherence=mean(adherence, unscored=without, seed=seed),
        hallucination=_rate(by_task, lambda one: one.invents, seed),
        correctness=_rate(by_task, lambda one: one.correct, seed),
        excluded=dict(Counter(filter(None, map(_excluded, details))).most_common()),
        resource=sum(one.bucket is Bucket.COMPILE_RESOURCE for one in details),
        findings=_kinds(details),
        parser=parser,
        tasks=[_task(task_id, ones) for task_id, ones in by_task.items()],
        details=[one for ones in by_task.values() for one in ones],
    )


def _excluded(one: SampleAxes) -> str | None:
    if one.reading is None:
        return "no_code"
    return None if one.reading.status in COUNTED else str(one.reading.status)


def _kinds(details: Sequence[SampleAxes]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for one in details:
        if one.reading is not None and one.reading.status in (
            *COUNTED,
            SampleStatus.PARSER_DISAGREES,
        ):
            counts.update({str(finding.kind) for finding in one.reading.findings})
    return dict(counts.most_common())


def _rate(
    by_task: Mapping[str, Sequence[SampleAxes]],
    held: Callable[[SampleAxes], bool | None],
    seed: int,
) -> Estimate:
    tallies = []
    for task_id, ones in by_task.items():
        values = [held(one) for one in ones]
        scored = [value for value in values if value is not None]
        missing = len(values) - len(scored)
        tallies.append(
            Tally(task_id=task_id, scored=len(scored), passed=sum(scored), unscored=missing)
        )
    return estimate(tallies, 1, seed=seed)


def _task(task_id: str, ones: Sequence[SampleAxes]) -> TaskAxes:
    def share(values: Sequence[float | bool | None]) -> float | None:
        known = [float(value) for value in values if value is not None]
        return sum(known) / len(known) if known else None

    return TaskAxes(
        task_id=task_id,
        samples=len(ones),
        compile=share([one.compiled for one in ones]),
        adherence=share([one.adherence for one in ones]),
        hallucination=share([one.invents for one in ones]),
        correctness=share([one.correct for one in ones]),
        excluded=sum(_excluded(one) is not None for one in ones),
    )


def read_axes(run_dir: Path) -> Axes | None:
    """Return what was measured of a run, None if nothing was."""
    place = run_dir / AXES
    if not place.is_file():
        return None
    try:
        return msgspec.json.decode(read_whole(place), type=Axes)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} holds no axes: {explain_error(error)}") from None
