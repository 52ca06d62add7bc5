"""All that a guest will ever hear said at once, and all that it said and wrote in one answer."""

from functools import lru_cache
from typing import NamedTuple

import msgspec

from proctor.sandbox import (
    Ending,
    Execution,
    Limits,
    OutOfMemory,
    OutputTooLong,
    SandboxFailed,
    Usage,
)
from proctor.sandbox.clock import Stopwatch
from proctor.sandbox.control import Answer
from proctor.sandbox.guest import by_itself
from proctor.sandbox.inside.frames import MAX_TOTAL


class Exchanged(NamedTuple):
    """What became of a guest whose requests were all sent at once."""

    answers: bytes
    execution: Execution


@lru_cache(maxsize=64)
def order_for(role: str, limits: Limits, *, wipe: bool) -> bytes:
    """Return the order to a keeper, which is the same again and again."""
    order = {
        "do": "exchange",
        "role": role,
        "limits": limits,
        "wipe": wipe,
        "answer_bytes": MAX_TOTAL,
    }
    return msgspec.json.encode(order)


def exchanged(answer: Answer, killed: Ending | None, limits: Limits, clock: Stopwatch) -> Exchanged:
    """Make sense of what the keeper says of an exchange."""
    header, blob = answer.header, answer.blob
    ending: Ending
    if "ended" not in header:
        failed = SandboxFailed(header.get("refused", "the keeper of the box is gone"))
        ending = killed if isinstance(killed, OutOfMemory) else failed
        return Exchanged(b"", Execution(ending=ending))
    first, second, _ = header["sizes"]
    answers = blob[:first]
    if not answers.startswith(b"R"):
        why = answers.removeprefix(b"F").decode("utf-8", "replace")
        ending = SandboxFailed(why or "died while being set up")
    elif header["too_long"]:
        ending = OutputTooLong()
    else:
        ending = killed or by_itself(header["ended"], header["cpu_seconds"], limits)
    usage = Usage(
        cpu_seconds=header["cpu_seconds"],
        wall_seconds=clock.passed,
        memory_bytes=header["memory_bytes"],
    )
    return Exchanged(
        answers[1:],
        Execution(
            ending=ending,
            stdout=blob[first : first + second],
            stderr=blob[first + second :],
            usage=usage,
        ),
    )
