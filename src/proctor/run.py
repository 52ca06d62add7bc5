"""The whole flow: completion → extraction → program → execution → verdict → receipt."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Literal

import msgspec

from proctor.completion import Completion, StopReason
from proctor.extraction import Extraction, NoCode, extract
from proctor.judge import Judge, Judgement, Rules
from proctor.program import BASE_IMPORTS, Program, assemble, verbatim
from proctor.receipt import Receipt, receipt_of
from proctor.sandbox import Sandbox
from proctor.task import Benchmark, Task
from proctor.verdict import Bucket, Failed, Unscored

Extract = Literal["auto", "never"]
Preamble = Literal["none", "base"]
Key = tuple[str, str]

REMEMBERED = 10_000
"""How many programs' receipts are kept for identical ones to come."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How samples are graded."""

    extract: Extract = "auto"
    preamble: Preamble = "none"
    reuse: bool = True
    workers: int = 1
    rules: Rules = Rules()


class Grader:
    """Grades samples; safe for use by several threads."""

    def __init__(self, sandbox: Sandbox, options: Options) -> None:
        self._options = options
        self._judge = Judge(sandbox, options.rules)
        self._enforcement = sandbox.enforcement()
        self._seen = Seen()

    def grade(self, task: Task, completion: Completion) -> Receipt:
        """Extract, assemble, execute, judge, and write everything down."""
        extraction = self._extraction(task, completion)
        if isinstance(extraction, NoCode):
            verdict = Failed(bucket=Bucket.NO_CODE, detail=extraction.reason)
            return self._receipt(task, completion, extraction, None, Judgement(verdict=verdict))
        program = self._program(task, completion, extraction)
        if not self._options.reuse:
            judgement = self._judge.judge(task, program)
            return self._receipt(task, completion, extraction, program, judgement)
        key = (task.task_id, program.sha256)
        first, judgement = self._seen.once(
            key, completion.sample, lambda: self._judge.judge(task, program)
        )
        receipt = self._receipt(task, completion, extraction, program, judgement)
        return msgspec.structs.replace(receipt, reused_from=first)

    def _extraction(self, task: Task, completion: Completion) -> Extraction | NoCode:
        if completion.whole or self._options.extract == "never":
            return Extraction(code=completion.completion, rule="verbatim")
        truncated = completion.stop is StopReason.LENGTH
        return extract(completion.completion, task, truncated=truncated)

    def _program(self, task: Task, completion: Completion, extraction: Extraction) -> Program:
        preamble = BASE_IMPORTS if self._options.preamble == "base" else ""
        if completion.whole or self._options.extract == "never":
            text = completion.completion
            return verbatim(task, text, whole=completion.whole, preamble=preamble)
        return assemble(task, extraction, preamble=preamble)

    def _receipt(
        self,
        task: Task,
        completion: Completion,
        extraction: Extraction | NoCode,
        program: Program | None,
        judgement: Judgement,
    ) -> Receipt:
        return receipt_of(
            task=task,
            completion=completion,
            extraction=extraction,
            program=program,
            judgement=judgement,
            enforcement=self._enforcement,
        )


class Seen:
    """Judgements of programs, so that identical ones of one task are run once."""

    def __init__(self) -> None:
        self._judgements: OrderedDict[Key, tuple[int, Future[Judgement]]] = OrderedDict()
        self._lock = threading.Lock()

    def once(
        self, key: Key, sample: int, judge: Callable[[], Judgement]
    ) -> tuple[int | None, Judgement]:
        """Return the judgement on a program, and which sample's it is if not this one's."""
        with self._lock:
            first, future = self._judgements.get(key, (None, None))
            if future is None:
                mine: Future[Judgement] = Future()
                self._judgements[key] = (sample, mine)
                if len(self._judgements) > REMEMBERED:
                    self._judgements.popitem(last=False)
        if future is not None:
            judgement = future.result()
            if not isinstance(judgement.verdict, Unscored):
                return first, judgement
            return None, judge()  # what failed on our side is worth another try
        try:
            mine.set_result(judge())
        except BaseException as error:
            mine.set_exception(error)
            raise
        return None, mine.result()


def grade_all(
    grader: Grader, benchmark: Benchmark, completions: Iterable[Completion], workers: int
) -> Iterator[Receipt]:
    """Grade a stream of completions on several workers and yield receipts as they come.

    Never more than a few completions are taken ahead. When the caller stops listening, samples
    that are being graded are finished and no new one is begun.
    """
    tasks = {task.task_id: task for task in benchmark.tasks}
    running: set[Future[Receipt]] = set()
    with ThreadPoolExecutor(workers, thread_name_prefix="grader") as pool:
        for completion in completions:
            if len(running) >= 2 * workers:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
            running.add(pool.submit(grader.grade, tasks[completion.task_id], completion))
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
