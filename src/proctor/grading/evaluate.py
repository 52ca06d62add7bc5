"""One run from beginning to end: what is asked for, a folder for it, receipts, a summary."""

import contextlib
import hashlib
import math
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from proctor.errors import InputError, SandboxError, boundary
from proctor.grading.duplicates import ReceiptHeader
from proctor.grading.engine import Backend
from proctor.grading.grade import Grader
from proctor.grading.pipeline import grade_all
from proctor.grading.prepare import Options
from proctor.grading.receipts import software_versions
from proctor.models import RecordedModel
from proctor.models.generated import GenerativeModel
from proctor.records.completion import Completion, Sampling, StopReason
from proctor.records.encoding import encode
from proctor.records.limits import Limits
from proctor.records.receipt import Manifest, Receipt
from proctor.records.task import Benchmark
from proctor.records.verdict import Bucket, Unscored
from proctor.results.summary import Summary, check_ks, summarize
from proctor.storage.journal import Key, Samples, read_journal, read_places
from proctor.storage.jsonl import file_sha256
from proctor.storage.run_directory import COMPLETIONS, RECEIPTS, RunDirectory

Watch = Callable[[Receipt], None]
SHOWN_MISSING = 100
UNDONE = (Bucket.CANCELLED, Bucket.HARNESS)
"""Samples that are tried again when the run is gone on with."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run."""

    benchmark: Benchmark
    model: RecordedModel | GenerativeModel
    sampling: Sampling = Sampling()
    options: Options = Options()
    limits: Limits | None = None
    """Limits that replaced the tasks' own, for the manifest."""
    partial: bool = False
    ks: Sequence[int] = ()
    seconds: float = math.inf
    """How long grading may go on; samples that are not graded by then are cancelled."""


def evaluate(
    plan: Plan,
    backend: Backend,
    out: Path | None = None,
    *,
    fresh: bool = False,
    stop: threading.Event | None = None,
    begin: Callable[[int, int, Path], None] = lambda _, __, ___: None,
    watch: Watch = lambda _: None,
) -> Summary:
    """Grade every sample that has no receipt yet, and sum up.

    `begin` hears how many samples there are, how many are done, and where; `watch` sees every
    receipt that is new. When `stop` is set, what runs is finished and saved, and then this raises
    KeyboardInterrupt. When time is up, what runs is finished, and the run is over.
    """
    started = time.monotonic()
    halt = _Halt(stop, started + plan.seconds)
    there = count_samples(plan)
    for language in sorted(plan.benchmark.languages - {"python"}):
        with contextlib.suppress(SandboxError):  # every sample will say that it is missing
            backend.require_language(language)
    manifest = _manifest(plan, backend, there)
    path = out or create_run_folder(manifest.benchmark, manifest.model)
    with RunDirectory(path, manifest, fresh=fresh) as directory:
        receipts = directory.receipts
        grader = Grader(backend, plan.options, lambda place: receipts.at(place, Receipt))
        if plan.seconds > 0:
            directory.go_on(_is_undone)  # there is time now, and the host may be better
        done = _graded(path, there, grader)
        begin(there.samples, len(done), path)
        todo = _remaining(plan, directory, there, done, halt)
        graded = grade_all(grader, plan.benchmark, todo, halt)
        with _heard_out(graded):
            for receipt in chain(graded, _cancelled(plan, there, done, grader, halt)):
                grader.note_receipt(receipt, receipts.append(receipt))
                done.add(receipt.task_id, receipt.sample)
                watch(receipt)
        if halt.is_set() and isinstance(plan.model, GenerativeModel):
            deque(todo, 0)  # answers under way are written down, to be judged another time
        if halt.asked and len(done) < there.samples:
            raise KeyboardInterrupt
        seconds = round(time.monotonic() - started, 3)
        summary = summarize(path, ks=plan.ks, seed=plan.sampling.seed, seconds=seconds)
        directory.write_report(summary)
    return summary


class _Halt(threading.Event):
    """Says that nothing new is to be begun: somebody asked for it, or time is up."""

    def __init__(self, stop: threading.Event | None, end: float) -> None:
        super().__init__()
        self._stop = stop
        self._end = end

    @property
    def asked(self) -> bool:
        """Whether somebody asked for it."""
        return self._stop is not None and self._stop.is_set()

    def is_set(self) -> bool:
        """Say whether to stop."""
        return self.asked or time.monotonic() >= self._end


class SampleCounts(NamedTuple):
    """What there is to grade."""

    counts: Counter[str]
    """How many samples each task has."""
    completions_sha256: str | None = None
    """Digest of completions.jsonl once all recorded completions are in it."""
    is_exact: bool = True
    """Whether completions.jsonl can hold all of them unchanged."""
    prompts_sha256: str | None = None

    @property
    def samples(self) -> int:
        """How many there are."""
        return self.counts.total()

    def has(self, task_id: str, sample: int) -> bool:
        """Say whether there is such a sample."""
        return sample < self.counts[task_id]


def count_samples(plan: Plan) -> SampleCounts:
    """Look at all that is to be graded, so that whatever is wrong with it is said at once."""
    if isinstance(plan.model, GenerativeModel):
        n = plan.sampling.n_samples
        check_ks(plan.ks, [n])
        asked = Counter({task.task_id: n for task in plan.benchmark.tasks})
        return SampleCounts(asked, prompts_sha256=plan.model.sha256(plan.benchmark))
    counts: Counter[str] = Counter()
    digest = hashlib.sha256()
    is_exact = True
    for completion in plan.model.complete(plan.benchmark, plan.sampling):
        counts[completion.task_id] += 1
        line = encode(completion)
        digest.update(line + b"\n")
        is_exact = is_exact and rb"\\ud" not in line  # may be a lone surrogate, spelt out
    name, tasks = plan.model.name, plan.benchmark.ids
    if not counts:
        raise InputError(f"{name}: there are no completions in it")
    missing = [task_id for task_id in tasks if task_id not in counts]
    if missing and not plan.partial:
        more = len(missing) - SHOWN_MISSING
        names = ", ".join(missing[:SHOWN_MISSING]) + (f" and {more} more" if more > 0 else "")
        raise InputError(
            f"{name}: no completion for {len(missing)} of {len(tasks)} tasks ({names}); "
            f"--partial scores the others"
        )
    check_ks(plan.ks, counts.values())
    return SampleCounts(counts, completions_sha256=digest.hexdigest(), is_exact=is_exact)


def _graded(path: Path, sample_counts: SampleCounts, grader: Grader) -> Samples:
    """Read the receipts of an earlier part of the run; programs that ran are not run again."""
    done = Samples()
    for place, receipt in read_places(path / RECEIPTS, ReceiptHeader, sample_counts.has):
        done.add(receipt.task_id, receipt.sample)
        grader.note_receipt(receipt, place)
    return done


@contextlib.contextmanager
def _heard_out(graded: Generator[Receipt, None, None]) -> Iterator[None]:
    """See that nobody grades any more when this is left; who was told to stop now does not wait."""
    try:
        yield
    except KeyboardInterrupt as stop:
        with contextlib.suppress(KeyboardInterrupt, StopIteration):
            graded.throw(stop)
        raise
    finally:
        graded.close()


def _cancelled(
    plan: Plan, sample_counts: SampleCounts, done: Samples, grader: Grader, halt: _Halt
) -> Iterator[Receipt]:
    """Yield receipts for what there was no time for; nobody is asked for answers to it."""
    if halt.asked or not halt.is_set():
        return
    find = plan.benchmark.finder()
    why = f"not graded within {plan.seconds:g} s, the limit of the whole benchmark"
    for place, task_id in enumerate(plan.benchmark.ids):
        for sample in range(sample_counts.counts[task_id]):
            if (task_id, sample) not in done:
                name = f"{place}_s{sample}"
                nothing = Completion(task_id=task_id, sample=sample, id=name, completion="")
                verdict = Unscored(bucket=Bucket.CANCELLED, reason=why)
                yield grader.unjudged(find(task_id), nothing, verdict)


def _is_undone(line: bytes) -> bool:
    """Say whether a receipt stands for no grading: there was no time, or this host failed."""
    if b'"outcome":null' not in line:  # most lines need not be parsed
        return False
    try:
        receipt = msgspec.json.decode(line, type=ReceiptHeader)
    except (ValueError, RecursionError):
        return False  # it is damaged, which whoever reads the journal will say
    return receipt.bucket in UNDONE and receipt.stop is not StopReason.ERROR


def _remaining(
    plan: Plan,
    directory: RunDirectory,
    sample_counts: SampleCounts,
    done: Samples,
    stop: threading.Event,
) -> Iterator[Completion | None]:
    """Yield completions that have no receipt, each written down before it is graded."""
    if not isinstance(plan.model, GenerativeModel):
        for completion in _recorded(plan, plan.model, directory, sample_counts):
            if (completion.task_id, completion.sample) not in done:
                yield completion
        return
    written = Samples()
    for completion in read_journal(directory.path / COMPLETIONS, Completion, sample_counts.has):
        written.add(completion.task_id, completion.sample)
        if (completion.task_id, completion.sample) not in done:
            yield completion
    for answer in plan.model.complete(
        plan.benchmark, plan.sampling, lambda key: key not in written, stop
    ):
        if answer is not None:
            directory.completions.append(answer)
        yield answer


def _recorded(
    plan: Plan, model: RecordedModel, directory: RunDirectory, sample_counts: SampleCounts
) -> Iterator[Completion]:
    """Return recorded completions, after copying them to the run directory.

    A resumed run has its copy already, and reads it in a fraction of the time.
    """
    path = directory.path / COMPLETIONS
    if file_sha256(path) != sample_counts.completions_sha256:
        deque(read_journal(path, Key, sample_counts.has), 0)  # raises an error if a line is damaged
        directory.completions.clear()
        for completion in _unchanged(plan, model, sample_counts):
            directory.completions.append(completion)
    if sample_counts.is_exact:
        return read_journal(path, Completion, sample_counts.has)
    return _unchanged(plan, model, sample_counts)


def _unchanged(
    plan: Plan, model: RecordedModel, sample_counts: SampleCounts
) -> Iterator[Completion]:
    """Yield recorded completions; raise InputError if they differ from those that were counted."""
    digest = hashlib.sha256()
    for completion in model.complete(plan.benchmark, plan.sampling):
        digest.update(encode(completion) + b"\n")
        yield completion
    if digest.hexdigest() != sample_counts.completions_sha256:
        raise InputError(f"{model.name}: it changed while it was graded; grade it again")


def _manifest(plan: Plan, backend: Backend, sample_counts: SampleCounts) -> Manifest:
    options, rules = plan.options, plan.options.rules
    asked = plan.model if isinstance(plan.model, GenerativeModel) else None
    return Manifest(
        benchmark=plan.benchmark.name,
        benchmark_sha256=plan.benchmark.sha256,
        source=plan.benchmark.source,
        tasks=len(plan.benchmark.tasks),
        samples=sample_counts.samples,
        completions_sha256=sample_counts.completions_sha256,
        prompts_sha256=sample_counts.prompts_sha256,
        model=plan.model.name,
        weights_sha256=asked.weights_sha256 if asked else None,
        strategy=asked.strategy if asked else "standard",
        sampling=plan.sampling,
        limits=plan.limits,
        compare=rules.compare if rules.checker is None else _checker_name(rules.checker),
        early_stop=rules.early_stop,
        max_tests=rules.max_tests,
        extract=options.extract,
        preamble=options.preamble,
        reuse=options.reuse,
        enforcement=backend.enforcement(),
        versions=software_versions(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        host=socket.gethostname(),
    )


def _checker_name(code: str) -> str:
    return f"checker {hashlib.sha256(code.encode('utf-8', 'surrogatepass')).hexdigest()}"


def create_run_folder(benchmark: str, model: str) -> Path:
    """Make the folder of a run that nobody named one for: runs/BENCHMARK/MODEL/TIME."""
    parent = Path("runs") / benchmark
    parent /= "".join(c if c.isalnum() or c in "._-" else "_" for c in model)
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    with boundary(InputError, f"cannot create {parent}", "name another place with --out"):
        parent.mkdir(parents=True, exist_ok=True)
        path, number = parent / moment, 1
        while True:
            try:
                path.mkdir()
            except FileExistsError:  # several runs may begin within one second
                number += 1
                path = parent / f"{moment}-{number}"
            else:
                return path
