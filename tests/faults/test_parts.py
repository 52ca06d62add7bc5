"""Processes of a run that somebody kills, one by one: others take their place.

What is killed is what holds candidates, not candidates: who ended one of those cannot be known.
"""

import itertools
import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from proctor.measure.sandbox_speed import working_tiers


def below(pid: int) -> list[int]:
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, path.read_text().split())
    return found


def parts(driver: int, depth: int) -> list[int]:
    """Return the keepers of boxes, and who stays outside of each if somebody does."""
    found = level = below(driver)
    for _ in range(depth - 1):
        level = [pid for one in level for pid in below(one)]
        found += level
    return sorted(found)


def wait_for_first(work, process: subprocess.Popen[str], count: int) -> None:
    """Wait until so many of the first samples, not any others, are graded, or it has ended."""
    first = set(itertools.islice(work.expected, count))
    while process.poll() is None:
        if first <= {(one["task_id"], one["sample"]) for one in work.receipts()}:
            return
        time.sleep(0.02)


def kill_parts(work, chance: random.Random, kills: int, depth: int) -> None:
    process = work.start()
    work.wait(process, 1)
    done = 0
    while done < kills and process.poll() is None:
        if found := parts(process.pid, depth):
            with suppress(ProcessLookupError):
                os.kill(chance.choice(found), signal.SIGKILL)
                done += 1
        # A sample that brings two boxes down has crashed; two kills of one would look like that.
        wait_for_first(work, process, work.count() + 4)
        time.sleep(chance.uniform(0, 0.1))
    ended = work.end(process)
    assert done == kills, f"it was over after {done} kills"
    assert ended.status in (0, 1), ended.err
    assert ended.err == ""
    work.goes_on()


@pytest.mark.parametrize(
    ("tier", "depth"),
    [("kernel", 2), pytest.param("contained", 1, marks=pytest.mark.slow)],
)
def test_keepers_are_killed(work, chance: random.Random, tier: str, depth: int) -> None:
    if tier not in working_tiers():
        pytest.skip(f"the {tier} tier does not work here")
    work.write(8, 6, seconds=0.1)
    work.options = ["--sandbox", tier]
    kill_parts(work, chance, 4, depth)
