"""What the machine is like while something is measured: figures may be from a better one."""

import os
import statistics
import time
from pathlib import Path

FORKS = 200
STEAL = 7


def fork_milliseconds() -> float:
    """Return how long this process takes to fork a child that ends at once, as a rule."""
    taken = []
    for _ in range(FORKS):
        begin = time.perf_counter()
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        taken.append(1000 * (time.perf_counter() - begin))
    return statistics.median(taken)


class CpuSteal:
    """CPU time that the hypervisor gave to other machines."""

    def __init__(self) -> None:
        self._before = self._times()

    def share(self) -> float:
        """Return its share of all CPU time since the last call, or since this was created."""
        before, self._before = self._before, self._times()
        passed = [now - then for then, now in zip(before, self._before, strict=True)]
        return passed[STEAL] / max(sum(passed), 1)

    def _times(self) -> list[int]:
        """Return the CPU times of all processors together: the first line of /proc/stat."""
        return [*map(int, Path("/proc/stat").read_text().split(maxsplit=9)[1:9])]
