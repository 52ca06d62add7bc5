"""One sample, from a completion to its receipt."""

import socket

import msgspec

from proctor.grading.duplicates import Duplicates, Key, Recall, ReceiptHeader
from proctor.grading.engine import Backend, Engine, JudgeRequest, engine_for
from proctor.grading.prepare import Options, PreparedSample, prepare, without_answer
from proctor.grading.receipts import build_receipt, extraction_fields
from proctor.judge.judgement import Judgement
from proctor.records.completion import Completion
from proctor.records.extraction import Extraction
from proctor.records.program import Program
from proctor.records.receipt import Receipt
from proctor.records.task import Task
from proctor.records.verdict import Failed, Unscored


class Grader:
    """Grades samples; safe for use by several threads."""

    def __init__(self, backend: Backend, options: Options, recall: Recall | None = None) -> None:
        self.options = options
        self.engine: Engine = engine_for(backend, options.workers)
        self.duplicates = Duplicates(recall)
        self._enforcement = backend.enforcement()

    def grade(self, task: Task, completion: Completion) -> Receipt:
        """Prepare, judge and write the receipt; identical programs of a task are judged once."""
        sample = prepare(task, completion, self.options)
        if not self.options.reuse or not isinstance(sample.program, Program):
            return self.receipt(sample, self.judge(sample))
        receipt, is_own = self.duplicates.once(
            key_of(sample), lambda: self.receipt(sample, self.judge(sample))
        )
        return receipt if is_own else reuse_receipt(receipt, sample)

    def judge(self, sample: PreparedSample) -> Judgement:
        """Judge a sample and wait for it."""
        if isinstance(sample.program, Program):
            return self.engine.judge(self.request(sample, sample.program))
        return self._without_running(sample.task, sample.program)

    def request(self, sample: PreparedSample, program: Program) -> JudgeRequest:
        """Return what the engine needs to judge a sample."""
        options = self.options
        return JudgeRequest(
            task=sample.task,
            program=program,
            rules=options.rules,
            confirm_failures=options.confirm_failures,
        )

    def receipt(self, sample: PreparedSample, judgement: Judgement) -> Receipt:
        """Put everything about a sample into its receipt."""
        return build_receipt(sample, judgement, self._enforcement)

    def unjudged(self, task: Task, completion: Completion, verdict: Unscored) -> Receipt:
        """Return the receipt of a sample that is not judged."""
        sample = without_answer(task, completion, verdict)
        return self.receipt(sample, self.judge(sample))

    def note_receipt(self, receipt: Receipt | ReceiptHeader, place: int) -> None:
        """Note where the journal has a receipt, for identical programs to come."""
        program = receipt.program_sha256
        if self.options.reuse and program is not None and receipt.reused_from is None:
            is_scored = receipt.outcome is not None
            key = receipt.task_sha256, program
            self.duplicates.note_place(key, place if is_scored else None)

    def _without_running(self, task: Task, verdict: Failed | Unscored) -> Judgement:
        if task.language not in self._enforcement.toolchains:
            self._enforcement = self.engine.enforcement()  # it may have been found since
        toolchain = self._enforcement.toolchains.get(task.language, "")
        return Judgement(verdict=verdict, host=socket.gethostname(), toolchain=toolchain)


def key_of(sample: PreparedSample) -> Key:
    """Return what a sample shares with others of its task that have the same program."""
    assert isinstance(sample.program, Program)  # noqa: S101
    return sample.task.sha256, sample.program.sha256


def reuse_receipt(receipt: Receipt, sample: PreparedSample) -> Receipt:
    """Return the receipt of a sample whose identical program was judged for another one."""
    extraction = sample.extraction
    return msgspec.structs.replace(
        receipt,
        sample=sample.completion.sample,
        reused_from=receipt.sample,
        stop=sample.completion.stop,
        completion_sha256=sample.completion.sha256,
        extraction=extraction_fields(extraction),
        code=extraction.code if isinstance(extraction, Extraction) else "",
    )
