"""An examination without waiting: ask the candidate ahead what the test asked another one.

Most tests ask every candidate the same. So what was asked once, live, is asked of the next
candidate all at once; then an examiner runs the test, fed with the answers that are there
already, and says what it would have asked. Only if that is, byte for byte and in order, what was
asked, do its results count: then nothing differs from a live examination. Otherwise the sample
is examined live, in fresh processes.
"""

from collections.abc import Sequence
from typing import Any

from proctor.judge.examination import (
    Examined,
    Record,
    all_failed,
    examiner_gone,
    examiner_limits,
    take_down,
)
from proctor.judge.supervisor import GOODBYE, Gone, Transcript, answer, loaded
from proctor.sandbox import Execution, Exited, Limits, OutputTooLong, Sandbox
from proctor.sandbox.inside import frames
from proctor.sandbox.inside.frames import Frame

MAX_BYTES = 1 << 20
MAX_DIVERGENCES = 3


class DivergedError(Exception):
    """The test asks this candidate something else."""


class Rehearsal:
    """What a task's test is known to ask."""

    def __init__(self) -> None:
        self.script: Sequence[bytes] = ()
        self._divergences = 0

    def learn(self, asked: Sequence[bytes] | None) -> None:
        """Keep what was asked in a live examination, if it says more than is known."""
        if asked is None or sum(map(len, asked)) > MAX_BYTES:
            self._divergences = MAX_DIVERGENCES
        if self._divergences < MAX_DIVERGENCES and len(asked or ()) > len(self.script):
            self.script = tuple(asked or ())

    def diverged(self) -> None:
        """Start again, or give up on a test that asks everybody something else."""
        self._divergences += 1
        self.script = ()


class Replay:
    """One candidate under one examiner, one after the other."""

    def __init__(
        self, sandbox: Sandbox, order: dict[str, Any], script: Sequence[bytes], limits: Limits
    ) -> None:
        self._sandbox = sandbox
        self._order = order
        self._script = script
        self._limits = limits
        self._answers: list[Frame] = []
        self._end: Gone | None = None
        self._asked = 0

    def run(self, load: bytes) -> tuple[Examined, Execution]:
        """Ask all, then examine the answers; DivergedError if the test would ask something else."""
        exchanged = self._sandbox.exchange(b"".join([load, *self._script, GOODBYE]), self._limits)
        try:
            self._collect(Transcript(exchanged))
        except Gone as end:  # it did not even load
            return Examined(all_failed(self._order, end)), exchanged.execution
        examined = self._examine()
        if self._asked < len(self._script) and exchanged.execution.ending != Exited(0):
            raise DivergedError  # it may have ended by what it would not have been asked
        return examined, exchanged.execution

    def _collect(self, transcript: Transcript) -> None:
        """Read the candidate's answers, as many as there are."""
        loaded(transcript)
        try:
            for number in range(1, len(self._script) + 1):
                self._answers.append(answer(transcript, number, frames.VALUE, frames.RAISED))
        except Gone as end:
            self._end = end

    def _examine(self) -> Examined:
        order = frames.pack(frames.EXAMINE, 0, frames.dump(self._order))
        said = b"".join([order, *(frames.pack(*frame) for frame in self._answers)])
        examiner = self._sandbox.exchange(said, examiner_limits(self._limits), "examiner")
        heard = iter(frames.Reader().feed(examiner.answers))

        def receive() -> Frame:
            try:
                return next(heard)
            except StopIteration:
                if self._end is not None and self._asked > len(self._answers):
                    raise self._end from None  # the answer that it waits for will never come
                raise examiner_gone(examiner.execution.ending) from None
            except frames.TooLarge:
                raise examiner_gone(OutputTooLong()) from None

        return take_down(Record(self._order, lambda: 0.0), receive, self._compare)

    def _compare(self, frame: Frame) -> None:
        """Check that the test asks what was asked."""
        if self._asked == len(self._script) or frames.pack(*frame) != self._script[self._asked]:
            raise DivergedError
        self._asked += 1
