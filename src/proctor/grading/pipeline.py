"""Grades a stream of samples, as many at once as the engine takes."""

import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import NamedTuple

from proctor.grading.duplicates import Claim, ClaimReleased
from proctor.grading.grade import Grader, key_of, reuse_receipt
from proctor.grading.prepare import PreparedSample, prepare
from proctor.judge.judgement import Judgement
from proctor.records.completion import Completion
from proctor.records.program import Program
from proctor.records.receipt import Receipt
from proctor.records.task import Benchmark, Task


def grade_all(
    grader: Grader,
    benchmark: Benchmark,
    completions: Iterable[Completion | None],
    stop: threading.Event | None = None,
) -> Generator[Receipt, None, None]:
    """Grade a stream of completions and yield receipts as they come.

    None in the stream means that there is no completion right now, but that more may follow. No
    more completions are taken than the engine has use for. When `stop` is set or the caller stops
    listening, running samples are finished and waiting ones are cancelled; only a
    KeyboardInterrupt does not wait for running samples.
    """
    stop = stop or threading.Event()
    find = benchmark.finder()
    running = RunningSamples(grader)
    wait = True
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
        wait = False
        raise
    finally:
        running.close()
        grader.engine.shutdown(wait=wait)


class _Run(NamedTuple):
    """A sample whose program is being judged."""

    sample: PreparedSample
    claim: Claim | None
    """None if every program is judged, duplicates too."""


class _Duplicate(NamedTuple):
    """A sample that gets the receipt of an identical program."""

    sample: PreparedSample
    receipt: Future[Receipt]


class RunningSamples:
    """Samples under way. Of identical programs, the first in the stream is judged."""

    def __init__(self, grader: Grader) -> None:
        self._grader = grader
        self._runs: dict[Future[Judgement], _Run] = {}
        self._done: SimpleQueue[Future[Judgement] | _Duplicate] = SimpleQueue()
        self._count = 0
        self._is_cancelled = False

    @property
    def any(self) -> bool:
        """Whether any sample is under way, done ones included."""
        return self._count > 0

    @property
    def is_full(self) -> bool:
        """Whether no more samples should begin before one is taken."""
        return self._count >= self._grader.engine.max_in_flight

    @property
    def has_done(self) -> bool:
        """Whether a sample can be taken without waiting."""
        return not self._done.empty()

    def begin(self, task: Task, completion: Completion) -> Iterator[Receipt]:
        """Begin one more sample; yield its receipt if nothing has to run for it."""
        sample = prepare(task, completion, self._grader.options)
        if not isinstance(sample.program, Program):
            yield self._grader.receipt(sample, self._grader.judge(sample))
        elif self._grader.options.reuse:
            self._judge_once(sample, sample.program)
        else:
            self._judge(sample, sample.program, None)

    def _judge_once(self, sample: PreparedSample, program: Program) -> None:
        """Judge a program unless it was judged before or is being judged."""
        claim = self._grader.duplicates.claim(key_of(sample))
        if claim.is_first:
            self._judge(sample, program, claim)
        else:
            self._count += 1
            claim.receipt.add_done_callback(lambda it: self._done.put(_Duplicate(sample, it)))

    def _judge(self, sample: PreparedSample, program: Program, claim: Claim | None) -> None:
        future = self._grader.engine.submit(self._grader.request(sample, program))
        self._runs[future] = _Run(sample, claim)
        self._count += 1
        future.add_done_callback(self._done.put)

    def take(self) -> Iterator[Receipt]:
        """Wait for one sample and yield its receipt, unless it was cancelled."""
        done = self._done.get()
        self._count -= 1
        if isinstance(done, _Duplicate):
            yield from self._reuse(done)
        else:
            yield from self._finish(done, self._runs.pop(done))

    def _finish(self, future: Future[Judgement], run: _Run) -> Iterator[Receipt]:
        if future.cancelled():
            self._release(run)
            return
        try:
            receipt = self._grader.receipt(run.sample, future.result())
        except BaseException:
            self._release(run)
            raise
        if run.claim is not None:
            self._grader.duplicates.resolve(key_of(run.sample), run.claim, receipt)
        yield receipt

    def _reuse(self, duplicate: _Duplicate) -> Iterator[Receipt]:
        sample = duplicate.sample
        try:
            receipt = duplicate.receipt.result()
        except ClaimReleased:
            if not self._is_cancelled and isinstance(sample.program, Program):
                self._judge_once(sample, sample.program)
        else:
            yield reuse_receipt(receipt, sample)

    def cancel(self) -> None:
        """Cancel samples that have not started."""
        self._is_cancelled = True
        for future in list(self._runs):
            future.cancel()

    def close(self) -> None:
        """Cancel samples that have not started, and give up the claims of all others."""
        self.cancel()
        for run in self._runs.values():
            self._release(run)

    def _release(self, run: _Run) -> None:
        if run.claim is not None:
            self._grader.duplicates.release(key_of(run.sample), run.claim)
