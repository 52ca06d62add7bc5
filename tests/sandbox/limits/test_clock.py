"""The clock counts what a guest owes, less what the machine kept from it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.records.limits import Limits
from proctor.sandbox.limits.cgroup import hierarchy
from proctor.sandbox.limits.clock import ProcessLoad, Stopwatch, load_of_descendants


class Machine:
    """A machine whose time passes only when told."""

    def __init__(self, monkeypatch) -> None:
        self.now = 100.0
        self.load: ProcessLoad | None = ProcessLoad({1: 0.0}, 0.0, 1, 0)
        self.throttled = self.stolen = 0.0
        self.looks = 0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def watch(self, **limits) -> Stopwatch:
        watch = Stopwatch(Limits(**limits), self.look, lambda: self.throttled, lambda: self.stolen)
        watch.start()
        return watch

    def look(self) -> ProcessLoad | None:
        self.looks += 1
        return self.load

    def passes(
        self,
        seconds,
        *,
        delay=0.0,
        thread=1,
        cpu=0.0,
        processes=1,
        memory=0,
        throttled=0.0,
        stolen=0.0,
    ):
        self.now += seconds
        self.throttled += throttled
        self.stolen += stolen
        if self.load is not None:
            delays = {**self.load.delays, thread: self.load.delays.get(thread, 0.0) + delay}
            self.load = ProcessLoad(delays, self.load.cpu_seconds + cpu, processes, memory)


@pytest.fixture
def machine(monkeypatch):
    return Machine(monkeypatch)


def test_a_sleeper_ends_by_the_wall_and_a_worker_by_the_processor(machine):
    watch = machine.watch(wall_seconds=2, cpu_seconds=2)
    machine.passes(1.9)
    assert watch.expired() is None
    machine.passes(0.2)
    assert watch.expired() == "wall"
    watch = machine.watch(wall_seconds=2, cpu_seconds=2)
    machine.passes(2.1, cpu=2.05)
    assert watch.expired() == "cpu"


def test_who_wakes_us_all_the_time_is_not_looked_at_each_time(machine):
    watch = machine.watch(wall_seconds=2, cpu_seconds=1)
    machine.passes(0.5)
    for _ in range(1000):
        machine.passes(0.0005, cpu=0.0004)
        assert watch.expired() is None
    assert 20 <= machine.looks <= 26
    machine.passes(0.1, cpu=0.7)
    assert watch.expired() == "cpu"


def test_time_without_a_processor_does_not_count(machine):
    watch = machine.watch(wall_seconds=2, cpu_seconds=2)
    machine.passes(10, delay=8.5, cpu=1.4)
    assert watch.expired() is None
    machine.passes(1, delay=0.2, cpu=0.55)
    assert watch.expired() == "wall" or watch.expired() == "cpu"


def test_many_threads_reach_the_processor_limit_sooner(machine):
    watch = machine.watch(wall_seconds=10, cpu_seconds=2)
    machine.passes(0.6, cpu=2.4)
    assert watch.expired() == "cpu"


def test_only_the_time_of_an_unanswered_request_counts(machine):
    watch = machine.watch(wall_seconds=2, cpu_seconds=2)
    machine.passes(1.5)
    watch.stop()
    machine.passes(100)
    watch.start()
    machine.passes(0.4)
    assert watch.expired() is None
    assert watch.passed == pytest.approx(1.9)
    machine.passes(0.2)
    assert watch.expired() == "wall"


def test_a_lap_begins_anew_but_the_total_goes_on(machine):
    watch = machine.watch(wall_seconds=2, cpu_seconds=2)
    machine.passes(1.9, cpu=1.9)
    watch.lap()
    machine.passes(1.9, cpu=1.9)
    assert watch.expired() is None
    assert watch.passed == pytest.approx(3.8)
    machine.passes(0.2, cpu=0.2)
    assert watch.expired() == "cpu"


def test_the_backstop_tells_starvation_from_idleness(machine):
    watch = machine.watch(wall_seconds=2, cpu_seconds=2)
    machine.passes(31, delay=30)
    assert watch.expired() == "starved"


def test_too_many_processes_are_noticed(machine):
    watch = machine.watch(processes=64)
    machine.passes(0.2, processes=65)
    assert watch.expired() == "processes"


def test_memory_of_all_processes_together_is_noticed(machine):
    watch = machine.watch(memory_bytes=1000)
    machine.passes(0.2, memory=1001)
    assert watch.expired() == "memory"


def test_without_the_kernels_word_the_wall_clock_is_left(machine):
    machine.load = None
    watch = machine.watch(wall_seconds=2, cpu_seconds=1)
    machine.passes(1.9)
    assert watch.expired() is None
    machine.passes(0.2)
    assert watch.expired() == "wall"
    assert watch.exact is False


def test_waiting_is_never_longer_than_the_limit_allows(machine):
    watch = machine.watch(wall_seconds=0.05, cpu_seconds=1)
    assert watch.patience() == pytest.approx(0.05)
    machine.passes(1)
    assert watch.patience() == 0.001


def test_the_kernel_tells_of_a_whole_tree():
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    end = time.process_time() + 0.3\n"
        "    while time.process_time() < end: pass\n"
        "    time.sleep(60)\n"
        "time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    try:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            load = load_of_descendants(process.pid)
            if load and load.processes == 1 and load.cpu_seconds >= 0.25:
                break
            time.sleep(0.05)
        assert load.processes == 1
        assert load.cpu_seconds >= 0.25
    finally:
        os.killpg(process.pid, 9)
        process.wait()
    assert load_of_descendants(process.pid) is None
    assert load.memory_bytes > 1_000_000


def test_what_a_guest_waited_counts_when_it_is_gone(machine):
    watch = machine.watch(wall_seconds=1, cpu_seconds=1)
    machine.passes(0.9, delay=0.5, cpu=0.4)
    assert watch.expired() is None
    machine.now += 0.2
    machine.load = ProcessLoad({}, 0.0, 1, 0)  # its children live on, and have not waited
    assert watch.expired() is None
    machine.now += 0.5
    assert watch.expired() == "wall"


def test_a_guest_that_is_no_more_has_ended_in_time(machine):
    watch = machine.watch(wall_seconds=1, cpu_seconds=1)
    machine.now += 1.5
    machine.load = ProcessLoad({}, 0.0, 0, 0)
    assert watch.expired() is None
    machine.now += 30
    assert watch.expired() == "wall", "but not for ever"


def test_a_new_lap_begins_without_the_waits_of_the_last(machine):
    watch = machine.watch(wall_seconds=1, cpu_seconds=1)
    machine.passes(5, delay=4.5)
    assert watch.expired() is None
    watch.lap()
    machine.passes(1.1)
    assert watch.expired() == "wall"


def test_who_makes_and_ends_threads_all_the_time_hides_nothing():
    code = (
        "import threading\nprint(1, flush=True)\n"
        "while True:\n    t = threading.Thread(target=lambda: None); t.start(); t.join()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        looks = [load_of_descendants(os.getpid()) for _ in range(300)]
        process.kill()
    assert all(load is not None and load.processes >= 1 for load in looks)


def test_who_waits_for_a_thread_that_waits_for_a_processor_waits_for_it_too(machine):
    watch = machine.watch(wall_seconds=1, cpu_seconds=1)
    for thread in range(10, 20):  # one after the other
        machine.passes(0.5, delay=0.45, thread=thread, cpu=0.04)
        assert watch.expired() is None
    machine.passes(0.6)
    assert watch.expired() == "wall"


def test_threads_that_wait_at_the_same_time_do_not_stop_the_clock(machine):
    watch = machine.watch(wall_seconds=1, cpu_seconds=100)
    for _ in range(18):
        for thread in range(20):
            machine.passes(0.0, delay=0.05, thread=thread)
        machine.passes(0.1)
        assert watch.expired() is None
    machine.passes(0.2)
    assert watch.expired() == "wall"


def test_nobody_waited_longer_than_time_passed(machine):
    watch = machine.watch(wall_seconds=1, cpu_seconds=1)
    machine.passes(0.2, delay=50.0)
    assert watch.expired() is None
    machine.passes(1.1)
    assert watch.expired() == "wall"


def test_a_new_thread_with_an_old_number_has_not_waited_backwards(machine):
    watch = machine.watch(wall_seconds=1, cpu_seconds=1)
    machine.passes(0.9, delay=0.5)
    assert watch.expired() is None
    machine.load = ProcessLoad({1: 0.0}, 0.0, 1, 0)
    machine.passes(0.5)
    assert watch.expired() is None
    machine.passes(0.2)
    assert watch.expired() == "wall"


def test_time_in_which_all_of_us_were_throttled_does_not_count(machine):
    watch = machine.watch(wall_seconds=1, cpu_seconds=1)
    machine.passes(4, throttled=3.2)
    assert watch.expired() is None
    machine.passes(0.3)
    assert watch.expired() == "wall"


def test_delay_and_throttling_are_the_same_wait(machine):
    watch = machine.watch(wall_seconds=1, cpu_seconds=1)
    machine.passes(4, throttled=3.2, delay=3.1)
    assert watch.expired() is None
    machine.passes(0.3)
    assert watch.expired() == "wall"


def test_throttling_between_requests_and_laps_is_not_subtracted(machine):
    watch = machine.watch(wall_seconds=1, cpu_seconds=1)
    machine.passes(0.5)
    watch.stop()
    machine.passes(100, throttled=90)
    watch.start()
    machine.passes(0.6)
    assert watch.expired() == "wall"
    watch.lap()
    machine.passes(3, throttled=2.5)
    assert watch.expired() is None
    watch.stop()
    watch.start()
    machine.passes(0.6)
    assert watch.expired() == "wall"


def test_stolen_processors_count_on_top_of_those_that_others_here_had(machine):
    watch = machine.watch(wall_seconds=1, cpu_seconds=1)
    machine.passes(4, delay=2.1, stolen=1, cpu=0.9)
    assert watch.expired() is None
    machine.passes(0.2)
    assert watch.expired() == "cpu"


def test_what_is_stolen_between_requests_is_not_subtracted(machine):
    watch = machine.watch(wall_seconds=1, cpu_seconds=1)
    machine.passes(1.5, stolen=0.6)
    watch.stop()
    machine.passes(5, stolen=5)
    watch.start()
    machine.passes(0.2)
    assert watch.expired() == "wall"


@pytest.fixture
def quarter() -> Iterator[Path]:
    """Make a cgroup whose processes get a quarter of a processor."""
    found = hierarchy("cpu")
    if found is None:
        pytest.skip("no cgroup that limits processor time is in sight")
    folder = found.own / "proctor-test-quarter"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup can be made: {error}")
    try:
        if found.version == 1:
            (folder / "cpu.cfs_quota_us").write_text("25000")
        else:
            (folder / "cpu.max").write_text("25000 100000")
        yield folder
    except FileNotFoundError as error:
        pytest.skip(f"the cgroup was not given processors: {error}")
    finally:
        folder.rmdir()


IN_A_QUARTER = """
import json, sys
open(sys.argv[1], "w").write("0")
from proctor.records.program import Program
from proctor.records.limits import Limits
from proctor.sandbox.tiers.select import open_sandbox
sandbox = open_sandbox("auto", sys.executable)
limits = Limits(cpu_seconds=0.4, wall_seconds=0.4)
for source in json.loads(sys.argv[2]):
    print(sandbox.run(Program(source=source), limits).ending)
sandbox.close()
"""
SPEND = "import os, threading, time\ndef spend(s):\n    while time.thread_time() < s: pass\n"
HALF = {
    "itself": SPEND + "spend(0.2)\n",
    "a thread": SPEND + "t = threading.Thread(target=spend, args=[0.2])\nt.start()\nt.join()\n",
    "a child": SPEND + "if os.fork() == 0:\n    spend(0.2)\n    os._exit(0)\nos.wait()\n",
    "nobody": "import time\ntime.sleep(0.2)\n",
}
"""Programs of which something takes half of the time limit."""


def test_a_throttled_container_changes_no_verdict(quarter: Path) -> None:
    sources = [*HALF.values(), "while True: pass", "import time\ntime.sleep(60)"]
    command = [sys.executable, "-c", IN_A_QUARTER, str(quarter / "cgroup.procs")]
    done = subprocess.run(
        [*command, json.dumps(sources)], capture_output=True, text=True, check=False
    )
    endings = done.stdout.splitlines()
    assert endings[:4] == ["Exited(code=0)"] * 4, done
    assert endings[4] == "TimedOut(clock='cpu')"
    assert endings[5] == "TimedOut(clock='wall')"
    told = (quarter / "cpu.stat").read_text().split()
    if told[told.index("nr_throttled") + 1] == "0":
        pytest.skip("others left so little of the machine that nobody was throttled")


def test_many_small_answers_heard_late_do_not_add_up_to_a_timeout(machine):
    watch = machine.watch(wall_seconds=2, cpu_seconds=2)
    for _ in range(1000):
        machine.passes(0.015, cpu=0.0001)
        watch.stop()
        watch.start()
    assert watch.passed == pytest.approx(15)
    assert watch.expired() is None
    machine.passes(2.1)
    assert watch.expired() == "wall", "one that is really late is late"


def test_who_hides_in_small_answers_works_or_waits_until_another_limit(machine):
    busy = machine.watch(wall_seconds=2, cpu_seconds=2)
    idle = machine.watch(wall_seconds=2, cpu_seconds=2)
    for _ in range(1600):
        machine.passes(0.02, cpu=0.0013)
        for watch in (busy, idle):
            watch.stop()
            watch.start()
    assert busy.expired() == "cpu"
    machine.load = ProcessLoad({}, 0.0, 1, 0)
    assert idle.expired() == "wall", "by the backstop"
