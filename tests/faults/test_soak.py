"""One trouble after the other, in an order and at moments that chance decides.

`make soak` goes on for FAULTS_SECONDS; FAULTS_SEED says in which order, and is printed.
"""

import os
import random
import resource
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

Driver = subprocess.Popen[str]
Trouble = Callable[[Driver, random.Random], None]


def kill_all(driver: Driver, chance: random.Random) -> None:
    os.killpg(driver.pid, signal.SIGKILL)


def kill_driver(driver: Driver, chance: random.Random) -> None:
    driver.kill()


def kill_a_box(driver: Driver, chance: random.Random) -> None:
    paths = Path(f"/proc/{driver.pid}/task").glob("*/children")
    boxes = [int(pid) for path in paths for pid in path.read_text().split()]
    os.kill(chance.choice(sorted(boxes)), signal.SIGKILL)


def ask_once(driver: Driver, chance: random.Random) -> None:
    driver.send_signal(signal.SIGTERM)


def ask_twice(driver: Driver, chance: random.Random) -> None:
    driver.send_signal(signal.SIGTERM)
    time.sleep(chance.uniform(0, 0.2))
    driver.send_signal(signal.SIGTERM)


def no_descriptors(driver: Driver, chance: random.Random) -> None:
    used = len(os.listdir(f"/proc/{driver.pid}/fd"))
    most = max(0, used - chance.randint(0, 12))
    resource.prlimit(driver.pid, resource.RLIMIT_NOFILE, (most, 4096))


def no_memory(driver: Driver, chance: random.Random) -> None:
    pages = int(Path(f"/proc/{driver.pid}/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + chance.randint(0, 16 << 20)
    resource.prlimit(driver.pid, resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def no_room(driver: Driver, chance: random.Random) -> None:
    path = Path("run/receipts.jsonl")
    size = path.stat().st_size if path.exists() else 0
    most = size + chance.randint(0, 100_000)
    resource.prlimit(driver.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


KILLED, SAID_SO, INTERRUPTED = {0, -signal.SIGKILL}, {0, 3}, {0, 130}
GAVE_OUT = {0, 3, -signal.SIGSEGV, -signal.SIGABRT}
"""A stack that cannot grow is a signal of the system's."""
TROUBLES: dict[Trouble, set[int]] = {
    kill_all: KILLED,
    kill_driver: KILLED,
    kill_a_box: {0, 1},
    ask_once: INTERRUPTED,
    ask_twice: INTERRUPTED,
    no_descriptors: SAID_SO,
    no_memory: GAVE_OUT,
    no_room: SAID_SO,
}


def go_through(
    work, chance: random.Random, orphans: Callable[[], set[int]], enough
) -> Counter[str]:
    """Make trouble until it is enough; return how often a run ended how."""
    met: Counter[str] = Counter()
    while not enough(met.total()):
        trouble = chance.choice(list(TROUBLES))
        driver = work.start()
        work.wait(driver, work.count() + chance.randint(0, 40))
        time.sleep(chance.uniform(0, 0.3))
        with suppress(ProcessLookupError, FileNotFoundError, IndexError):  # it was over before
            trouble(driver, chance)
        ended = work.end(driver)
        met[f"{trouble.__name__} {ended.status}"] += 1
        assert ended.status in TROUBLES[trouble], (trouble, ended.status, ended.err)
        assert "Traceback" not in ended.err, (trouble, ended.err)
        assert not orphans(), trouble
        work.nothing_wrong()
        if ended.status == 0:
            work.all_right()
            shutil.rmtree("run")
    work.goes_on()
    print(dict(sorted(met.items())))
    return met


@pytest.mark.slow
def test_a_few_troubles(work, chance: random.Random, orphans: Callable[[], set[int]]) -> None:
    work.write(12, 8, seconds=0.03)
    assert go_through(work, chance, orphans, lambda rounds: rounds >= 4).total() == 4


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_trouble_for_a_long_time(
    work, chance: random.Random, orphans: Callable[[], set[int]]
) -> None:
    work.write(16, 12, seconds=0.05)
    end = time.monotonic() + float(os.environ.get("FAULTS_SECONDS", "120"))
    met = go_through(work, chance, orphans, lambda _: time.monotonic() > end)
    assert met.total() >= 1
