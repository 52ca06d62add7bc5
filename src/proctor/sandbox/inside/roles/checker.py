"""Runs a checker that the author of a test wrote on one answer, in a process of its own."""

import builtins
import random
from typing import Any

from ..protocol import frames
from ..protocol.frames import Channel, parse
from ..protocol.values import unpack

MAX_TEXT = 1024


def check(channel: Channel) -> None:
    """Take a checker and an answer from the supervisor and say whether it takes the answer."""
    frame = channel.receive()
    if frame is None:
        return
    order = parse(frame.payload)
    random.seed(order["seed"])
    names: dict[str, Any] = {"__name__": "checker", "__builtins__": builtins}
    try:
        exec(compile(order["code"], "<checker>", "exec", dont_inherit=True), names)
        function = names["check"]
    except BaseException as error:
        detail = f"the checker does not load: {type(error).__name__}: {error}"
        channel.send(frames.UNFIT, 0, {"detail": detail[:MAX_TEXT]})
        return
    try:
        accepted, detail = bool(function(*unpack(order["values"]))), "the checker says no"
    except BaseException as error:
        accepted, detail = False, f"the checker raised {type(error).__name__}: {error}"
    channel.send(frames.RESULT, 0, {"accepted": accepted, "detail": detail[:MAX_TEXT]})
