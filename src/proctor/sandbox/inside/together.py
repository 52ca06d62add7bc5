"""Candidate and tests in one process, for tests that cannot be run apart.

They patch the process, capture its output or hand over what cannot cross a border. Hostile code
that shares a process with its judge can forge what it likes; what is kept here is only that it
has to be hostile: a test counts if it reports a result, and the examination counts if it ends
with the token that was chosen after the candidate's text was fixed.
"""

import random
import sys
import types
from typing import Any

from . import denylist, frames
from .candidate import FILE, MODULE, describe, line_of
from .examiner import MAX_TEXT, Examination, Tests, Unfit
from .frames import Wire, parse


class Witness:
    """Stands where the border stands elsewhere: it knows what the candidate raised."""

    def __init__(self) -> None:
        self.notes: set[str] = set()

    def accusation(self, error: BaseException) -> dict[str, Any] | None:
        """Return what is known of an exception that came out of the candidate's code."""
        return describe(error) if line_of(error) is not None else None


def examine_together(wire: Wire) -> None:
    """Load a candidate and run its tests around it."""
    frame = wire.receive()
    if frame is None:
        return
    order = parse(frame.payload)
    token, source = order.pop("token"), order.pop("source")
    module = types.ModuleType(MODULE)
    sys.modules[MODULE] = module
    names = module.__dict__
    try:
        tests = Tests(order)
        tests.prepare(names)
    except Unfit as error:
        wire.send(frames.UNFIT, 0, {"detail": str(error)[:MAX_TEXT]})
        return
    stage = "compile"
    try:
        code = compile(source, FILE, "exec", dont_inherit=True)
        stage = "run"
        if order["denied"]:
            denylist.install(names)
        exec(code, names)
    except BaseException as error:
        wire.send(frames.LOADED, 0, {"stage": stage, **describe(error)})
        return
    wire.send(frames.LOADED, 0, {"stage": "done"})
    random.seed(order["seed"])
    missing = [name for name in order["entry_points"] if name not in names]
    examination = Examination(wire, Witness(), missing, early_stop=order["early_stop"])
    examination.finish(tests.run(names, examination), token=token)
