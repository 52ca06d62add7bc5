"""How many workers' memory limits fit into this host."""

import os
from pathlib import Path

SHARE = 0.8
"""How much of the host's memory all workers together may be promised."""
CGROUP = Path("/sys/fs/cgroup")


def admit_workers(memory_bytes: int) -> int:
    """Return how many workers with such a limit fit."""
    return int(SHARE * host_memory() / memory_bytes)


def host_memory() -> int:
    """Return how much memory there is for us: the machine's, or less in a container."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    return min([physical, *_cgroup_limits()])


def _cgroup_limits() -> list[int]:
    """Return the limits of the cgroup that we see as the root, whichever version it is."""
    limits = []
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            text = (CGROUP / name).read_text().strip()
        except OSError:
            continue
        if text.isdigit():  # else it says `max`
            limits.append(int(text))
    return limits
