"""Processes of a run that somebody kills, one by one: others take their place.

What is killed is what holds candidates, not candidates: who ended one of those cannot be known.
"""

import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest


def below(pid: int) -> list[int]:
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, path.read_text().split())
    return found


def parts(driver: int) -> list[int]:
    """Return the keepers of boxes, and who stays outside of each."""
    outside = below(driver)
    return sorted([*outside, *(pid for one in outside for pid in below(one))])


def kill_parts(work, chance: random.Random, kills: int) -> None:
    process = work.start()
    work.wait(process, 1)
    done = 0
    while done < kills and process.poll() is None:
        if found := parts(process.pid):
            with suppress(ProcessLookupError):
                os.kill(chance.choice(found), signal.SIGKILL)
                done += 1
        time.sleep(chance.uniform(0.2, 0.6))
    ended = work.end(process)
    assert done == kills, f"it was over after {done} kills"
    assert ended.status in (0, 1), ended.err
    assert ended.err == ""
    work.goes_on()


@pytest.mark.parametrize("tier", ["auto", "contained"])
def test_keepers_are_killed(work, chance: random.Random, tier: str) -> None:
    if tier == "contained":
        from proctor.bench import working_tiers

        if tier not in working_tiers():
            pytest.skip("the contained tier does not work here")
    work.write(8, 6, seconds=0.1)
    work.options = ["--sandbox", tier]
    kill_parts(work, chance, 4)
