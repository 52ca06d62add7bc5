"""Many runs of one program in namespaces made once: see `inside/keeper/repeated_runs.py`."""

import contextlib

import msgspec

from proctor.cancellation import raise_if_cancelled
from proctor.errors import SandboxError
from proctor.records.execution import Execution, SandboxFailed
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox.supervisor.box import Box, program_blob
from proctor.sandbox.supervisor.exchange import (
    exchange_result,
    order_for_case,
    order_to_prepare,
    repeated_run_result,
)
from proctor.sandbox.supervisor.protocols import PreparedProgram

MAX_PREPARATIONS = 3
"""How often one program is prepared; after that, each run gets fresh namespaces."""


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
        self._is_prepared = False  # whether there is a process from which runs fork
        self._preparations = 0
        self._never: Execution | None = None  # how it ended without ever having been run

    def run(self, stdin: bytes, output_bytes: int) -> Execution:
        """Run it once, in an empty scratch folder."""
        raise_if_cancelled()
        if self._never is None and self._prepare():
            limits = msgspec.structs.replace(self._limits, output_bytes=output_bytes)
            heard = self._box.ask(
                order_for_case(output_bytes), stdin, limits, self._box.look_in_namespace
            )
            if heard.answer.header.get("state") != "clean":
                self._is_prepared = False
            execution = repeated_run_result(heard, limits)
            if not isinstance(execution.ending, SandboxFailed):
                return execution
            self._preparations = MAX_PREPARATIONS
        if self._never is not None:
            return self._never
        self._discard_prepared()
        return self._otherwise.run(stdin, output_bytes)

    def _prepare(self) -> bool:
        """Return whether the program is prepared, after preparing it if needed."""
        if self._is_prepared:
            return True
        if self._preparations >= MAX_PREPARATIONS:
            return False
        self._preparations += 1
        order = order_to_prepare(self._limits)
        heard = self._box.ask(order, program_blob(self._program), self._limits)
        if "prepared" in heard.answer.header:
            self._is_prepared = True
            return True
        _, execution = exchange_result(heard, self._limits)
        if isinstance(execution.ending, SandboxFailed):
            self._preparations = MAX_PREPARATIONS
        else:
            self._never = msgspec.structs.replace(execution, compiled=False)
        return False

    def _discard_prepared(self) -> None:
        if self._is_prepared:
            self._is_prepared = False
            with contextlib.suppress(SandboxError):  # the keeper is gone, and all with it
                self._box.discard_prepared()

    def close(self) -> None:
        """Give the box back."""
        self._discard_prepared()
        self._otherwise.close()
