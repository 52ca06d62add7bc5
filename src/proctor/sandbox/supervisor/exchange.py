"""All that a guest will ever hear said at once, and all that it said and wrote in one answer."""

from functools import lru_cache
from typing import NamedTuple

import msgspec

from proctor.records.execution import (
    Ending,
    Execution,
    OutOfMemory,
    OutputTooLong,
    SandboxFailed,
    TimedOut,
    Usage,
)
from proctor.records.limits import Limits
from proctor.sandbox.limits.clock import Stopwatch
from proctor.sandbox.supervisor.control_socket import Answer
from proctor.sandbox.supervisor.guest import by_itself


class ExchangeResult(NamedTuple):
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
    }
    return msgspec.json.encode(order)


@lru_cache(maxsize=64)
def order_to_prepare(limits: Limits) -> bytes:
    """Return the order to make namespaces for many runs of one program.

    The process that forks the runs counts against the limit, too.
    """
    limits = msgspec.structs.replace(limits, processes=limits.processes + 1)
    return msgspec.json.encode({"do": "prepare", "limits": limits})


@lru_cache(maxsize=64)
def order_for_case(output_bytes: int) -> bytes:
    """Return the order for one of these runs."""
    return msgspec.json.encode({"do": "case", "output_bytes": output_bytes})


class KeeperReply(NamedTuple):
    """What a keeper said in the end, why its guest was killed, if it was, and how long it took."""

    answer: Answer
    killed: Ending | None
    clock: Stopwatch


def exchange_result(heard: KeeperReply, limits: Limits) -> ExchangeResult:
    """Make sense of what the keeper says of an exchange."""
    header, blob = heard.answer.header, heard.answer.blob
    if "ended" not in header:
        return ExchangeResult(b"", Execution(ending=_unheard(heard)))
    answers = blob[sum(header["sizes"]) :]
    execution = _executed(heard, limits)
    if not answers.startswith(b"R"):
        why = answers.removeprefix(b"F").decode("utf-8", "replace")
        failed = SandboxFailed(why or "died while being set up")
        execution = msgspec.structs.replace(execution, ending=failed)
    return ExchangeResult(answers[1:], execution)


def repeated_run_result(heard: KeeperReply, limits: Limits) -> Execution:
    """Make sense of what the keeper says of one run in a series."""
    header = heard.answer.header
    if "ended" not in header:
        return Execution(ending=_unheard(heard))
    if header["state"] == "died" and heard.killed is None and not header["too_long"]:
        return Execution(ending=SandboxFailed("the process that forks the runs has died"))
    return _executed(heard, limits)


def _unheard(heard: KeeperReply) -> Ending:
    """Say how a guest ended of which no keeper tells."""
    if isinstance(heard.killed, OutOfMemory | TimedOut):
        return heard.killed  # the kernel took the keeper with it, or it was kept from answering
    return SandboxFailed(heard.answer.header.get("refused", "the keeper of the box is gone"))


def _executed(heard: KeeperReply, limits: Limits) -> Execution:
    header, blob = heard.answer.header, heard.answer.blob
    first, second = header["sizes"]
    by_nobody = by_itself(header["ended"], header["cpu_seconds"], limits)
    return Execution(
        ending=OutputTooLong() if header["too_long"] else heard.killed or by_nobody,
        stdout=blob[:first],
        stderr=blob[first : first + second],
        usage=Usage(
            # the keeper cannot tell what a run used that was killed with the process it forks from
            cpu_seconds=max(header["cpu_seconds"], heard.clock.cpu_seconds),
            wall_seconds=heard.clock.passed,
            memory_bytes=max(header["memory_bytes"], heard.clock.memory_bytes),
        ),
    )
