"""The whole flow: completion → extraction → program → execution → verdict → receipt."""

import socket
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Literal, NamedTuple

import msgspec

from proctor.completion import Completion, StopReason
from proctor.engine import Engine, Judged, Question, Walls, engine_of
from proctor.extraction import Extraction, NoCode, extract
from proctor.judge import Judgement, Rules
from proctor.program import BASE_IMPORTS, Program, assemble, verbatim
from proctor.receipt import Receipt, how, receipt_of
from proctor.sandbox.drop import Dropped, check
from proctor.settings import default_workers
from proctor.task import Benchmark, Task
from proctor.verdict import Bucket, Failed, Outcome, Unscored, Verdict

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


class Draft(NamedTuple):
    """A sample whose program is to be judged."""

    completion: Completion
    extraction: Extraction
    question: Question

    @property
    def key(self) -> Key:
        """What it shares with samples of the same task that have the same program."""
        return self.question.task.sha256, self.question.program.sha256


class Grader:
    """Grades samples; safe for use by several threads."""

    def __init__(self, walls: Walls, options: Options, recall: Recall | None = None) -> None:
        """If somebody writes receipts down and says where (`wrote`), they are asked for there."""
        self.options = options
        self.engine: Engine = engine_of(walls, options.workers)
        self.seen = Seen(recall)
        self._enforcement = walls.enforcement()

    def grade(self, task: Task, completion: Completion) -> Receipt:
        """Extract, assemble, execute, judge, and write everything down."""
        draft = self.draft(task, completion)
        if isinstance(draft, Receipt):
            return draft

        def run() -> Receipt:
            return self.receipt(draft, self.engine.judge(draft.question))

        if not self.options.reuse:
            return run()
        receipt, own = self.seen.once(draft.key, run)
        return receipt if own else again(draft, receipt)

    def draft(self, task: Task, completion: Completion) -> Draft | Receipt:
        """Extract and assemble; if there is nothing to judge, write that down."""
        if completion.stop is StopReason.ERROR:
            return self._unanswered(task, completion)
        extraction = extraction_of(task, completion, self.options)
        if isinstance(extraction, NoCode):
            verdict = Failed(bucket=Bucket.NO_CODE, detail=extraction.reason)
            return self._receipt(task, completion, extraction, None, self._here(task, verdict))
        program = program_of(task, completion, extraction, self.options)
        rules, doubt = self.options.rules, self.options.doubt
        question = Question(task=task, program=program, rules=rules, doubt=doubt)
        return Draft(completion, extraction, question)

    def receipt(self, draft: Draft, judged: Judged) -> Receipt:
        """Write down what became of a draft."""
        task, program = draft.question.task, draft.question.program
        return self._receipt(task, draft.completion, draft.extraction, program, judged)

    def wrote(self, receipt: Receipt | Written, place: int) -> None:
        """Learn where a receipt of the run is written down."""
        program = receipt.program_sha256
        if self.options.reuse and program is not None and receipt.reused_from is None:
            is_known = receipt.outcome is not None
            self.seen.wrote((receipt.task_sha256, program), place if is_known else None)

    def _unanswered(self, task: Task, completion: Completion) -> Receipt:
        """Say that there is nothing to judge: that is no wrong answer."""
        why = f"the model gave no answer: {completion.more.get('error', 'no reason given')}"
        return self.unjudged(task, completion, Unscored(reason=why))

    def unjudged(self, task: Task, completion: Completion, verdict: Unscored) -> Receipt:
        """Write down that a sample was not judged, and why."""
        nothing = NoCode(reason="there is no answer")
        return self._receipt(task, completion, nothing, None, self._here(task, verdict))

    def _here(self, task: Task, verdict: Verdict) -> Judged:
        """Return a verdict for which nothing was run."""
        if task.language not in self._enforcement.toolchains:
            self._enforcement = self.engine.enforcement()  # it may have been tried by now
        toolchain = self._enforcement.toolchains.get(task.language, "")
        return Judged(Judgement(verdict=verdict), socket.gethostname(), toolchain)

    def _receipt(
        self,
        task: Task,
        completion: Completion,
        extraction: Extraction | NoCode,
        program: Program | None,
        judged: Judged,
    ) -> Receipt:
        return receipt_of(
            task=task,
            completion=completion,
            extraction=extraction,
            program=program,
            judgement=judged.judgement,
            enforcement=self._enforcement,
            toolchain=judged.toolchain,
            host=judged.host,
        )


def again(draft: Draft, receipt: Receipt) -> Receipt:
    """Write down for a sample what became of another one with the same program."""
    return msgspec.structs.replace(
        receipt,
        sample=draft.completion.sample,
        reused_from=receipt.sample,
        stop=draft.completion.stop,
        completion_sha256=draft.completion.sha256,
        extraction=how(draft.extraction),
        code=draft.extraction.code,
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
            known = self._recalled(key, place)
            return (known, False) if known is not None else (run(), True)
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

    def known(self, key: Key) -> Receipt | None:
        """Return the receipt of a sample with this program, if one was scored."""
        with self._lock:
            place = self._places.get(hash(key))
            first = self._receipts.get(key)
        if place is not None:
            return self._recalled(key, place)
        if first is None or not first.done() or first.exception() is not None:
            return None
        return None if first.result().outcome is None else first.result()

    def _recalled(self, key: Key, place: int) -> Receipt | None:
        receipt = self._recall(place)
        mine = receipt is not None and (receipt.task_sha256, receipt.program_sha256) == key
        return receipt if mine else None

    def remember(self, key: Key, receipt: Receipt) -> None:
        """Hold a receipt as that of the first sample with its program, until it is written down."""
        with self._lock:
            self._promise(key).set_result(receipt)

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


def grade_all(
    grader: Grader,
    benchmark: Benchmark,
    completions: Iterable[Completion | None],
    stop: threading.Event | None = None,
) -> Generator[Receipt, None, None]:
    """Grade a stream of completions by the grader's engine and yield receipts as they come.

    None in the stream says that there is no completion at the moment, but that there may be more.
    Never more completions are taken ahead than the engine has use for. When `stop` is set or the
    caller stops listening, samples that are being graded are finished and no new one is begun;
    only a KeyboardInterrupt does not wait for them.
    """
    stop = stop or threading.Event()
    find = benchmark.finder()
    running = _Running(grader)
    patient = True
    try:
        for completion in completions:
            while running.is_full or (completion is None and running.has_done):
                yield from running.take()
            if stop.is_set():
                break
            if completion is not None:
                yield from running.begin(find(completion.task_id), completion)
        while running.any:
            if stop.is_set():
                running.cancel()
            yield from running.take()
    except KeyboardInterrupt:
        patient = False
        raise
    finally:
        running.cancel()
        grader.engine.rest(patient=patient)


class _Running:
    """Samples under way: programs that are being judged, and samples that wait for one of them.

    Of identical programs it is always the first in the stream that is run.
    """

    def __init__(self, grader: Grader) -> None:
        self._grader = grader
        self._waiting: dict[Future[Judged], list[Draft]] = {}
        self._first: dict[Key, Future[Judged]] = {}
        self._done: SimpleQueue[Future[Judged]] = SimpleQueue()
        self._count = 0

    @property
    def any(self) -> bool:
        """Whether there are some, done ones included."""
        return bool(self._waiting)

    @property
    def is_full(self) -> bool:
        """Whether no more should be begun before one is taken."""
        return self._count >= self._grader.engine.most

    @property
    def has_done(self) -> bool:
        """Whether one can be taken at once."""
        return not self._done.empty()

    def begin(self, task: Task, completion: Completion) -> Iterator[Receipt]:
        """Have one more graded; yield its receipt if nothing has to be run for it."""
        draft = self._grader.draft(task, completion)
        if isinstance(draft, Receipt):
            yield draft
            return
        if not self._grader.options.reuse:
            self._judge(draft)
            return
        known = self._grader.seen.known(draft.key)
        if known is not None:
            yield again(draft, known)
        elif draft.key in self._first:
            self._waiting[self._first[draft.key]].append(draft)
            self._count += 1
        else:
            self._first[draft.key] = self._judge(draft)

    def _judge(self, draft: Draft) -> Future[Judged]:
        future = self._grader.engine.begin(draft.question)
        self._waiting[future] = [draft]
        self._count += 1
        future.add_done_callback(self._done.put)
        return future

    def take(self) -> Iterator[Receipt]:
        """Wait for a program; yield receipts of its samples, unless it was cancelled."""
        future = self._done.get()
        first, *others = self._waiting.pop(future)
        self._count -= 1 + len(others)
        if self._first.get(first.key) is future:
            del self._first[first.key]
        if future.cancelled():
            return
        receipt = self._grader.receipt(first, future.result())
        if receipt.outcome is None:  # what failed on our side is worth another try
            for other in others:
                self._judge(other)
        elif self._grader.options.reuse:
            self._grader.seen.remember(first.key, receipt)
        yield receipt
        for other in others if receipt.outcome is not None else ():
            yield again(other, receipt)

    def cancel(self) -> None:
        """Let those go that have not been begun."""
        for future in list(self._waiting):
            future.cancel()
