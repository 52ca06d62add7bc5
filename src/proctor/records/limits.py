"""The limits of one program, and their defaults."""

import msgspec

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

DEFAULT_SECONDS = 3.0
"""Limit of processor time and of wall time where a task, benchmark or caller sets none."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one candidate may use; units are in the names."""

    cpu_seconds: float = DEFAULT_SECONDS
    """Processor time of all its threads and descendants together."""
    wall_seconds: float = DEFAULT_SECONDS
    """Time that passes while it owes an answer, less the time it waited for a processor."""
    memory_bytes: int = GIB
    output_bytes: int = 256 * KIB
    """Each of standard output and standard error."""
    processes: int = 64
    file_bytes: int = 64 * MIB
    scratch_bytes: int = 256 * MIB
    open_files: int = 256
    loopback: bool = False
    """Whether it may talk to itself over a network that leads nowhere else."""

    def with_seconds(self, seconds: float) -> "Limits":
        """Return the same limits with both clocks set to `seconds`."""
        return msgspec.structs.replace(self, cpu_seconds=seconds, wall_seconds=seconds)
