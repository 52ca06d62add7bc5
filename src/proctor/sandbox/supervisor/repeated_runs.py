"""Many runs of one program whose walls are put up once: see `inside/keeper/repeated_runs.py`."""

import contextlib

import msgspec

from proctor.cancellation import raise_if_cancelled
from proctor.errors import SandboxError
from proctor.records.execution import Execution, Limits, SandboxFailed
from proctor.records.program import Program
from proctor.sandbox import PreparedProgram
from proctor.sandbox.supervisor.box import Box, program_blob
from proctor.sandbox.supervisor.exchange import (
    exchange_result,
    order_for_case,
    order_to_prepare,
    repeated_run_result,
)

MOST = 3
"""How often walls are put up for one program; its other runs have walls of their own, each."""


class RepeatedRuns:
    """One program, compiled once, run again and again, each time as if for the first."""

    def __init__(
        self, box: Box, program: Program, limits: Limits, otherwise: PreparedProgram
    ) -> None:
        """Take a box; what does not go this way, for whatever reason, goes the other."""
        self._box = box
        self._program = program
        self._limits = limits
        self._otherwise = otherwise
        self._stands = False  # whether there is a process from which runs fork
        self._walls = 0
        self._never: Execution | None = None  # how it ended without ever having been run

    def run(self, stdin: bytes, output_bytes: int) -> Execution:
        """Run it once, in an empty scratch folder."""
        raise_if_cancelled()
        if self._never is None and self._settle():
            limits = msgspec.structs.replace(self._limits, output_bytes=output_bytes)
            heard = self._box.ask(
                order_for_case(output_bytes), stdin, limits, self._box.look_behind_walls
            )
            if heard.answer.header.get("state") != "kept":
                self._stands = False
            execution = repeated_run_result(heard, limits)
            if not isinstance(execution.ending, SandboxFailed):
                return execution
            self._walls = MOST
        if self._never is not None:
            return self._never
        self._leave()
        return self._otherwise.run(stdin, output_bytes)

    def _settle(self) -> bool:
        """Put up walls if there are none, and say whether there are."""
        if self._stands:
            return True
        if self._walls >= MOST:
            return False
        self._walls += 1
        order = order_to_prepare(self._limits)
        heard = self._box.ask(order, program_blob(self._program), self._limits)
        if "settled" in heard.answer.header:
            self._stands = True
            return True
        _, execution = exchange_result(heard, self._limits)
        if isinstance(execution.ending, SandboxFailed):
            self._walls = MOST
        else:
            self._never = msgspec.structs.replace(execution, compiled=False)
        return False

    def _leave(self) -> None:
        if self._stands:
            self._stands = False
            with contextlib.suppress(SandboxError):  # the keeper is gone, and all with it
                self._box.leave()

    def close(self) -> None:
        """Give the box back."""
        self._leave()
        self._otherwise.close()
