"""What a program may use, how it ended and what it used; no judgement in it."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

Tier = Literal["kernel", "docker", "contained", "wasm", "portable"]
Clock = Literal["cpu", "wall"]


class Exited(msgspec.Struct, frozen=True, tag="exited"):
    """It ended by itself."""

    code: int


class Signalled(msgspec.Struct, frozen=True, tag="signalled"):
    """A signal ended it that we did not send."""

    signal: int


class TimedOut(msgspec.Struct, frozen=True, tag="timed_out"):
    """We ended it because a clock ran out."""

    clock: Clock


class OutOfMemory(msgspec.Struct, frozen=True, tag="out_of_memory"):
    """It was ended for want of memory."""


class OutputTooLong(msgspec.Struct, frozen=True, tag="output_too_long"):
    """We ended it because it wrote more than it may."""


class Denied(msgspec.Struct, frozen=True, tag="denied"):
    """A wall ended it while it tried `what`."""

    what: str


class SandboxFailed(msgspec.Struct, frozen=True, tag="sandbox_failed"):
    """We failed; nothing is known about the candidate."""

    reason: str


Ending = Exited | Signalled | TimedOut | OutOfMemory | OutputTooLong | Denied | SandboxFailed


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What one candidate used."""

    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    memory_bytes: int = 0


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """What happened, without judgement."""

    ending: Ending
    stdout: bytes = b""
    stderr: bytes = b""
    usage: Usage = Usage()
    compiled: bool = True
    """False if the program's text was refused before anything of it ran."""
    build: "Execution | None" = None
    """How its compiler ended, for a job whose language has one and that went on to run."""
    files: Mapping[str, bytes] = {}
    """What a job wanted of its folder and found there."""
    left: Mapping[str, str] = {}
    """What it wanted but did not get, and why."""


class Enforcement(msgspec.Struct, frozen=True, kw_only=True):
    """What a tier holds its guests to on this host, and by what."""

    tier: Tier
    isolated: bool
    walls: Mapping[str, str]
    """Limit or wall → how it is enforced, or `not enforced`."""
    clock: str
    """`schedstat` (load is subtracted) or `wall`."""
    toolchains: Mapping[str, str]
    """Language → what runs its programs, with its version."""
    packages: Sequence[str] = ()
    """What candidates may import besides the standard library, with versions."""
