"""The clock counts what a guest owes, less what the machine kept from it."""

import os
import subprocess
import sys
import time

import pytest

from proctor.sandbox import Limits
from proctor.sandbox.clock import Load, Stopwatch, load_below


class Machine:
    """A machine whose time passes only when told."""

    def __init__(self, monkeypatch) -> None:
        self.now = 100.0
        self.load: Load | None = Load(0.0, 0.0, 1, 0)
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def watch(self, **limits) -> Stopwatch:
        watch = Stopwatch(Limits(**limits), lambda: self.load)
        watch.start()
        return watch

    def passes(self, seconds, *, delay=0.0, cpu=0.0, processes=1, memory=0):
        self.now += seconds
        if self.load is not None:
            delay, cpu = self.load.delay_seconds + delay, self.load.cpu_seconds + cpu
            self.load = Load(delay, cpu, processes, memory)


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
            load = load_below(process.pid)
            if load and load.processes == 1 and load.cpu_seconds >= 0.25:
                break
            time.sleep(0.05)
        assert load.processes == 1
        assert load.cpu_seconds >= 0.25
    finally:
        os.killpg(process.pid, 9)
        process.wait()
    assert load_below(process.pid) is None
    assert load.memory_bytes > 1_000_000


def test_what_a_guest_waited_counts_when_it_is_gone(machine):
    watch = machine.watch(wall_seconds=1, cpu_seconds=1)
    machine.passes(0.9, delay=0.5, cpu=0.4)
    assert watch.expired() is None
    machine.now += 0.2
    machine.load = Load(0.0, 0.0, 1, 0)  # its children live on, and have not waited
    assert watch.expired() is None
    machine.now += 0.5
    assert watch.expired() == "wall"


def test_a_guest_that_is_no_more_has_ended_in_time(machine):
    watch = machine.watch(wall_seconds=1, cpu_seconds=1)
    machine.now += 1.5
    machine.load = Load(0.0, 0.0, 0, 0)
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
        looks = [load_below(os.getpid()) for _ in range(300)]
        process.kill()
    assert all(load is not None and load.processes >= 1 for load in looks)
