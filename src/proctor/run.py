"""The whole flow: completion → extraction → program → execution → verdict → receipt."""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle
from queue import SimpleQueue
from typing import Literal

import msgspec

from proctor.completion import Completion, StopReason
from proctor.extraction import Extraction, NoCode, extract
from proctor.judge import Judge, Judgement, Rules
from proctor.judge.doubt import References
from proctor.program import BASE_IMPORTS, Program, assemble, verbatim
from proctor.receipt import Receipt, how, receipt_of
from proctor.sandbox import Sandbox
from proctor.sandbox.drop import Dropped, check
from proctor.settings import default_workers
from proctor.task import Benchmark, Task, TestProgram
from proctor.verdict import Bucket, Failed, Outcome, Unscored

Extract = Literal["auto", "never"]
Preamble = Literal["none", "base"]
Key = tuple[str, str]
Recall = Callable[[int], Receipt | None]
"""Returns the receipt that was written down at a place, if it can still be read."""

REMEMBERED = 10_000
"""How many programs' receipts are kept for identical ones to come, if nobody writes them down."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How samples are graded."""

    extract: Extract = "auto"
    preamble: Preamble = "none"
    reuse: bool = True
    workers: int = msgspec.field(default_factory=default_workers)
    rules: Rules = Rules()
    doubt: bool = False
    """Whether a failure counts only if the task's own reference solution does not fail, too."""


class Written(msgspec.Struct, frozen=True):
    """The few fields of a receipt that tell what it says of other samples."""

    task_id: str
    sample: int
    outcome: Outcome | None
    bucket: Bucket
    program_sha256: str | None
    task_sha256: str
    reused_from: int | None = None
    stop: StopReason = StopReason.STOP


class Grader:
    """Grades samples; safe for use by several threads."""

    def __init__(self, sandbox: Sandbox, options: Options, recall: Recall | None = None) -> None:
        """If somebody writes receipts down and says where (`wrote`), they are asked for there."""
        self._options = options
        self._judge = Judge(sandbox, options.rules)
        self._sandbox = sandbox
        self._enforcement = sandbox.enforcement()
        self._seen = Seen(recall)
        self._references = References(self._judge)

    def grade(self, task: Task, completion: Completion) -> Receipt:
        """Extract, assemble, execute, judge, and write everything down."""
        if completion.stop is StopReason.ERROR:
            return self._unanswered(task, completion)
        extraction = extraction_of(task, completion, self._options)
        if isinstance(extraction, NoCode):
            verdict = Failed(bucket=Bucket.NO_CODE, detail=extraction.reason)
            return self._receipt(task, completion, extraction, None, Judgement(verdict=verdict))
        program = program_of(task, completion, extraction, self._options)

        def run() -> Receipt:
            judgement = self._judge.judge(task, program)
            if self._options.doubt or isinstance(task.tests, TestProgram):
                judgement = self._references.doubt(task, judgement)
            return self._receipt(task, completion, extraction, program, judgement)

        if not self._options.reuse:
            return run()
        receipt, own = self._seen.once((task.sha256, program.sha256), run)
        if own:
            return receipt
        return msgspec.structs.replace(
            receipt,
            sample=completion.sample,
            reused_from=receipt.sample,
            stop=completion.stop,
            completion_sha256=completion.sha256,
            extraction=how(extraction),
            code=extraction.code,
        )

    def wrote(self, receipt: Receipt | Written, place: int) -> None:
        """Learn where a receipt of the run is written down."""
        program = receipt.program_sha256
        if self._options.reuse and program is not None and receipt.reused_from is None:
            is_known = receipt.outcome is not None
            self._seen.wrote((receipt.task_sha256, program), place if is_known else None)

    def _unanswered(self, task: Task, completion: Completion) -> Receipt:
        """Say that there is nothing to judge: that is no wrong answer."""
        why = f"the model gave no answer: {completion.more.get('error', 'no reason given')}"
        return self.unjudged(task, completion, Unscored(reason=why))

    def unjudged(self, task: Task, completion: Completion, verdict: Unscored) -> Receipt:
        """Write down that a sample was not judged, and why."""
        nothing = NoCode(reason="there is no answer")
        return self._receipt(task, completion, nothing, None, Judgement(verdict=verdict))

    def _receipt(
        self,
        task: Task,
        completion: Completion,
        extraction: Extraction | NoCode,
        program: Program | None,
        judgement: Judgement,
    ) -> Receipt:
        if task.language not in self._enforcement.toolchains:
            self._enforcement = self._sandbox.enforcement()  # it may have been tried by now
        return receipt_of(
            task=task,
            completion=completion,
            extraction=extraction,
            program=program,
            judgement=judgement,
            enforcement=self._enforcement,
        )


def extraction_of(task: Task, completion: Completion, options: Options) -> Extraction | NoCode:
    """Find the code in a completion, unless it is all code."""
    if completion.whole or options.extract == "never":
        return Extraction(code=completion.completion, rule="verbatim")
    truncated = completion.stop is StopReason.LENGTH
    return extract(completion.completion, task, truncated=truncated)


def program_of(
    task: Task, completion: Completion, extraction: Extraction, options: Options
) -> Program:
    """Make the program that is run for a completion."""
    preamble = BASE_IMPORTS if options.preamble == "base" else ""
    if completion.whole or options.extract == "never":
        text = completion.completion
        return verbatim(task, text, whole=completion.whole, preamble=preamble)
    return assemble(task, extraction, preamble=preamble)


class Seen:
    """Receipts of programs, so that identical ones of one task are run once.

    Of a receipt that is written down only the place is kept: a run may have any number of programs.
    Where nobody writes them down, so many of the last ones are held.
    """

    def __init__(self, recall: Recall | None = None) -> None:
        self._recall = recall or (lambda _: None)
        self._receipts: OrderedDict[Key, Future[Receipt]] = OrderedDict()
        self._places: dict[int, int] = {}
        """Of programs by the hash of their key; the receipt itself says whose it is."""
        self._lock = threading.Lock()

    def once(self, key: Key, run: Callable[[], Receipt]) -> tuple[Receipt, bool]:
        """Return the receipt of the first sample with this program, and whether it was run now."""
        with self._lock:
            place = self._places.get(hash(key))
            first = self._receipts.get(key)
            if place is None and first is None:
                mine = self._promise(key)
        if place is not None:
            receipt = self._recall(place)
            known = receipt is not None and (receipt.task_sha256, receipt.program_sha256) == key
            return (receipt, False) if receipt is not None and known else (run(), True)
        if first is not None:
            try:
                receipt = first.result()
            except Dropped:
                check()  # else it was who ran the same and has gone meanwhile
                return self.once(key, run)
            # What failed on our side is worth another try.
            return (run(), True) if receipt.outcome is None else (receipt, False)
        try:
            mine.set_result(run())
        except BaseException as error:
            self.wrote(key, None)  # another time it may go better
            mine.set_exception(error)
            raise
        return mine.result(), True

    def wrote(self, key: Key, place: int | None) -> None:
        """Learn where the receipt of a program is; None if it says nothing about another sample."""
        with self._lock:
            self._receipts.pop(key, None)
            if place is not None:
                self._places[hash(key)] = place

    def _promise(self, key: Key) -> Future[Receipt]:
        future = self._receipts[key] = Future[Receipt]()
        if len(self._receipts) > REMEMBERED:
            self._receipts.popitem(last=False)
        return future


def graders(workers: int) -> ThreadPoolExecutor:
    """Return threads to grade in; if they fill the machine, each keeps to one processor.

    A sandbox runs where its caller may run. A zygote that wanders between processors pays for it
    at every fork, and what a candidate wastes, it should waste on its own worker's processor.
    """
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    seats = cycle(allowed)

    def sit_down() -> None:
        if len(allowed) > 1 and workers % len(allowed) == 0:
            os.sched_setaffinity(0, {next(seats)})

    return ThreadPoolExecutor(workers, thread_name_prefix="grader", initializer=sit_down)


def grade_all(
    grader: Grader,
    benchmark: Benchmark,
    completions: Iterable[Completion | None],
    workers: int,
    stop: threading.Event | None = None,
) -> Generator[Receipt, None, None]:
    """Grade a stream of completions on several workers and yield receipts as they come.

    None in the stream says that there is no completion at the moment, but that there may be more.
    Never more than a few completions are taken ahead. When `stop` is set or the caller stops
    listening, samples that are being graded are finished and no new one is begun; only a
    KeyboardInterrupt does not wait for them.
    """
    stop = stop or threading.Event()
    find = benchmark.finder()
    running = _Running(workers)
    try:
        for completion in completions:
            while running.is_full or (completion is None and running.has_done):
                yield from running.take()
            if stop.is_set():
                break
            if completion is not None:
                running.begin(grader.grade, find(completion.task_id), completion)
        while running.any:
            if stop.is_set():
                running.cancel()
            yield from running.take()
    except KeyboardInterrupt:
        running.patient = False
        raise
    finally:
        running.close()


class _Running:
    """Samples that are being graded."""

    def __init__(self, workers: int) -> None:
        self.patient = True
        self._most = 2 * workers
        self._pool = graders(workers)
        self._futures: set[Future[Receipt]] = set()
        self._done: SimpleQueue[Future[Receipt]] = SimpleQueue()

    @property
    def any(self) -> bool:
        """Whether there are some, done ones included."""
        return bool(self._futures)

    @property
    def is_full(self) -> bool:
        """Whether no more should be begun before one is taken."""
        return len(self._futures) >= self._most

    @property
    def has_done(self) -> bool:
        """Whether one can be taken at once."""
        return not self._done.empty()

    def begin(
        self, grade: Callable[[Task, Completion], Receipt], task: Task, completion: Completion
    ) -> None:
        """Have one more graded."""
        future = self._pool.submit(grade, task, completion)
        self._futures.add(future)
        future.add_done_callback(self._done.put)

    def take(self) -> Iterator[Receipt]:
        """Wait for one; yield its receipt, unless it was cancelled."""
        future = self._done.get()
        self._futures.discard(future)
        if not future.cancelled():
            yield future.result()

    def cancel(self) -> None:
        """Let those go that have not been begun."""
        for future in list(self._futures):
            future.cancel()

    def close(self) -> None:
        """Wait for those that were begun, if there is time."""
        self._pool.shutdown(wait=self.patient, cancel_futures=True)
