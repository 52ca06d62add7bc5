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

from ..protocol import frames
from ..protocol.frames import Channel, Malformed, load
from . import import_denylist
from .candidate import FILE, MODULE, describe_exception, error_line
from .examiner import Examination, Tests, Unfit
from .unit_tests import UnitTests


class SameProcessErrors:
    """Stands where the border stands elsewhere: it knows what the candidate raised."""

    def __init__(self) -> None:
        self.notes: set[str] = set()

    def describe_candidate_error(self, error: BaseException) -> dict[str, Any] | None:
        """Return what is known of an exception that came out of the candidate's code."""
        return describe_exception(error) if error_line(error) is not None else None


def examine_together(channel: Channel) -> None:
    """Load a candidate and run its tests around it."""
    frame = channel.receive()
    if frame is None:
        return
    order = load(frame.payload)
    token = order.pop("token")
    module = types.ModuleType(MODULE)
    sys.modules[MODULE] = module
    names = module.__dict__
    unfit: BaseException | None = None
    if order["denied"]:  # before unit tests look at what is replaced
        import_denylist.install(names)
    try:
        tests: Tests | UnitTests = UnitTests(order) if order["unit"] else Tests(order)
        tests.prepare(names)
    except Unfit as error:  # the reference will fail, too, and that tells whose fault it is
        unfit = error
    failure = _load(order, names)
    channel.send(frames.LOADED, 0, failure or {"stage": "done"})
    if failure:
        return
    random.seed(order["seed"])
    missing = [name for name in order["entry_points"] if name not in names]
    examination = Examination(channel, SameProcessErrors(), missing, early_stop=order["early_stop"])
    try:
        examination.finish(unfit or tests.run(names, examination), token=token)
    except Malformed as error:
        channel.send(frames.BROKEN, 0, {"detail": str(error)})


def _load(order: dict[str, Any], names: dict[str, Any]) -> dict[str, Any] | None:
    """Load the candidate's program; return what went wrong, if anything did."""
    stage = "compile"
    try:
        code = compile(order.pop("source"), FILE, "exec", dont_inherit=True)
        stage = "run"
        exec(code, names)
    except BaseException as error:
        return {"stage": stage, **describe_exception(error)}
    return None
