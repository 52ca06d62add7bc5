"""An examination without waiting: ask the candidate ahead what the test asked another one.

Most tests ask every candidate the same. So what was asked once, live, is asked of the next
candidate all at once; then an examiner runs the test, fed with the answers that are there
already, and says what it would have asked. Only if that is, byte for byte and in order, what was
asked, do its results count: then nothing differs from a live examination. Otherwise the sample
is examined live, in fresh processes.

All that an examiner learns of a candidate are its answers, and it draws the same numbers whenever
it runs. So who gives, byte for byte, the answers with which another has passed, passes as well.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

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


class Right(NamedTuple):
    """What was asked and answered in an examination that was passed, and how."""

    script: Sequence[bytes]
    answers: bytes
    examined: Examined


class Rehearsal:
    """What a task's test is known to ask, and once was told."""

    def __init__(self) -> None:
        self.script: Sequence[bytes] = ()
        self.right: Right | None = None
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
        self, sandbox: Sandbox, order: dict[str, Any], rehearsal: Rehearsal, limits: Limits
    ) -> None:
        self._sandbox = sandbox
        self._order = order
        self._rehearsal = rehearsal
        self._script = rehearsal.script
        self._limits = limits
        self._answers: list[Frame] = []
        self._end: Gone | None = None
        self._asked = 0

    def run(self, load: bytes) -> tuple[Examined, Execution]:
        """Ask all, then examine the answers; DivergedError if the test would ask something else."""
        exchanged = self._sandbox.exchange(b"".join([load, *self._script, GOODBYE]), self._limits)
        ended, right = exchanged.execution.ending == Exited(0), self._rehearsal.right
        if ended and right is not None and right[:2] == (self._script, exchanged.answers):
            return right.examined, exchanged.execution
        try:
            self._collect(Transcript(exchanged))
        except Gone as end:  # it did not even load
            return Examined(all_failed(self._order, end)), exchanged.execution
        examined = self._examine()
        if self._asked < len(self._script) and not ended:
            raise DivergedError  # it may have ended by what it would not have been asked
        if ended and len(exchanged.answers) <= MAX_BYTES and all(t.passed for t in examined.tests):
            self._rehearsal.right = Right(self._script, exchanged.answers, examined)
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
