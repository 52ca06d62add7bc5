"""Runs that fork from one walled-in process: as fresh as if each had walls of its own."""

import os
import signal
import zlib
from collections.abc import Sequence

import msgspec
import pytest

from proctor.errors import SandboxError
from proctor.records.execution import (
    Execution,
    Exited,
    OutOfMemory,
    OutputTooLong,
    Signalled,
    TimedOut,
)
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.sandbox import Sandbox
from proctor.sandbox.limits.clock import child_pids
from proctor.sandbox.supervisor.repeated_runs import RepeatedRuns

QUICK = Limits().with_seconds(1.5)
pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.parametrize("sandbox", ["kernel"], indirect=True),
]


def runs_of(sandbox: Sandbox, source: str, limits: Limits = QUICK) -> RepeatedRuns:
    runs = sandbox.repeat(Program(source=source), limits, times=9)
    assert isinstance(runs, RepeatedRuns)
    return runs


def run_all(
    sandbox: Sandbox, source: str, inputs: Sequence[bytes], limits: Limits = QUICK
) -> tuple[list[Execution], int]:
    """Run a program with some inputs; say how often walls were put up, too."""
    runs = runs_of(sandbox, source, limits)
    try:
        return [runs.run(given, 1 * MIB) for given in inputs], runs._preparations
    finally:
        runs.close()


def outputs(executions: Sequence[Execution]) -> list[bytes]:
    assert {execution.ending for execution in executions} == {Exited(0)}
    return [execution.stdout for execution in executions]


def test_walls_are_put_up_once(sandbox: Sandbox) -> None:
    source = (
        "import os\n"
        "print(int(input()) * 2, os.getpid(), os.listdir('.'), open('main.py').read()[:9])\n"
    )
    executions, walls = run_all(sandbox, source, [b"1", b"2", b"3"])
    left = b"['main.py'] import os\n"
    assert outputs(executions) == [b"2 2 " + left, b"4 3 " + left, b"6 4 " + left]
    assert walls == 1
    assert all(0 < execution.usage.cpu_seconds < 0.5 for execution in executions)
    assert all(execution.usage.memory_bytes > 5 * MIB for execution in executions)
    assert all(execution.compiled for execution in executions)


def test_nothing_is_kept_in_memory_from_run_to_run(sandbox: Sandbox) -> None:
    source = (
        "import builtins, json, os, sys\n"
        "print(hasattr(builtins, 'seen'), hasattr(json, 'seen'), 'SEEN' in os.environ, os.getcwd())\n"
        "builtins.seen = json.seen = os.environ['SEEN'] = 'seen'\n"
        "os.umask(0); os.chdir('/'); sys.stdout.flush(); os.close(0); os.set_blocking(1, False)\n"
    )
    executions, walls = run_all(sandbox, source, [b""] * 3)
    assert outputs(executions) == [b"False False False /tmp\n"] * 3
    assert walls == 1


def test_a_run_has_a_process_group_of_its_own(sandbox: Sandbox) -> None:
    source = """
import os, signal
signal.signal(signal.SIGTERM, lambda *_: print("heard", flush=True))
print(os.getpgrp() == os.getpid(), flush=True)
os.killpg(os.getpgrp(), signal.SIGTERM)
os.killpg(0, signal.SIGTERM)
"""
    executions, walls = run_all(sandbox, source, [b""] * 3)
    alone = sandbox.run(Program(source=source), QUICK)
    assert outputs([*executions, alone]) == [b"True\nheard\nheard\n"] * 4
    assert walls == 1


LEFT = """
import os, time
print(sorted(int(name) for name in os.listdir('/proc') if name.isdigit()) == [os.getpid()])
if os.fork() == 0:
    os.close(0), os.close(1), os.close(2)
    for _ in range(5):
        if os.fork() != 0:
            break
    while True:
        {do}
"""


@pytest.mark.parametrize("do", ["pass", "time.sleep(1)", "os.fork() == 0 or os.wait()"])
def test_processes_that_a_run_leaves_end_with_it(sandbox: Sandbox, do: str) -> None:
    executions, walls = run_all(sandbox, LEFT.format(do=do), [b""] * 3)
    assert outputs(executions) == [b"True\n"] * 3
    assert walls == 1


ATTACKS = {
    "signals": (
        "for number in range(1, 32):\n"
        "    try: os.kill(1, number)\n"
        "    except OSError: pass\n"
    ),
    "a look at its memory": (
        "for name in ('mem', 'maps', 'environ', 'fd', 'root'):\n"
        "    try: os.stat('/proc/1/' + name)\n"
        "    except FileNotFoundError: continue\n"
        "    print('there is', name)\n"
    ),
    "its line": (
        "for number in range(3, 100):\n"
        "    try: os.fstat(number)\n"
        "    except OSError: continue\n"
        "    print('open:', number)\n"
    ),
    "its limits": (
        "for kind in range(16):\n"
        "    try: resource.prlimit(1, kind, (0, 0))\n"
        "    except OSError: continue\n"
        "    print('changed', kind)\n"
    ),
    "its priority": (
        "os.setpgid(0, 1)\n"
        "for do in (lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),\n"
        "           lambda: os.setpriority(os.PRIO_PGRP, 0, 19),\n"
        "           lambda: os.setpriority(os.PRIO_USER, 0, 19),\n"
        "           lambda: os.sched_setaffinity(1, {0}),\n"
        "           lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))):\n"
        "    try: do()\n"
        "    except OSError: continue\n"
        "    print('changed it')\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_the_process_that_runs_fork_from_is_out_of_their_reach(
    sandbox: Sandbox, attack: str
) -> None:
    source = f"import os, resource\n{attack}print(input())\n"
    executions, _ = run_all(sandbox, source, [b"1", b"2", b"3"])
    assert outputs(executions) == [b"1\n", b"2\n", b"3\n"]


def test_a_run_that_is_ended_takes_no_other_with_it(sandbox: Sandbox) -> None:
    source = """
import os, time
what = input()
if what == "busy":
    while True: pass
if what == "asleep":
    time.sleep(9)
if what == "long":
    print("x" * 3_000_000)
if what == "killed":
    os.kill(os.getpid(), 9)
if what == "interrupted":
    os.kill(os.getpid(), 2)
print(what)
"""
    inputs = [b"1", b"busy", b"2", b"asleep", b"3", b"long", b"4", b"killed", b"interrupted", b"5"]
    executions, _ = run_all(sandbox, source, inputs, Limits().with_seconds(0.5))
    busy, asleep = executions[1], executions[3]
    assert isinstance(busy.ending, TimedOut)
    assert isinstance(asleep.ending, TimedOut)
    assert busy.usage.cpu_seconds > 10 * asleep.usage.cpu_seconds
    others = [execution for execution in executions if execution not in (busy, asleep)]
    assert [execution.ending for execution in others] == [
        *(Exited(0), Exited(0), Exited(0), OutputTooLong(), Exited(0), Signalled(signal.SIGKILL)),
        *(Exited(1), Exited(0)),
    ]
    assert executions[8].stderr.endswith(b"KeyboardInterrupt\n")
    printed = [execution.stdout for execution in executions if execution.ending == Exited(0)]
    assert printed == [b"1\n", b"2\n", b"3\n", b"4\n", b"5\n"]


COUNTS = """
import os, time
for count in range(20):
    try:
        if os.fork() == 0:
            time.sleep(9)
    except OSError:
        break
print(count)
"""


@pytest.mark.parametrize("processes", [1, 2, 8])
def test_a_run_may_start_as_many_processes_as_one_alone(sandbox: Sandbox, processes: int) -> None:
    limits = msgspec.structs.replace(QUICK, processes=processes)
    alone = sandbox.run(Program(source=COUNTS), limits)
    executions, walls = run_all(sandbox, COUNTS, [b""] * 3, limits)
    assert outputs(executions) == [alone.stdout] * 3
    assert walls == 1


def test_memory_is_limited_in_every_run(sandbox: Sandbox) -> None:
    source = "held = []\nwhile True: held.append(bytes(1 << 26))\n"
    limits = Limits(memory_bytes=512 * MIB).with_seconds(10)
    executions, _ = run_all(sandbox, source, [b""] * 3, limits)
    for execution in executions:
        assert execution.ending in (Exited(1), OutOfMemory())
        assert b"MemoryError" in execution.stderr or execution.ending == OutOfMemory()


def test_memory_that_is_nearly_too_much_is_judged_as_if_alone(sandbox: Sandbox) -> None:
    source = """
import time
held = []
try:
    while True: held.append(b"x" * (1 << 18))
except MemoryError:
    time.sleep(0.6)
"""
    limits = msgspec.structs.replace(QUICK, memory_bytes=256 * MIB)
    alone = sandbox.run(Program(source=source), limits)
    executions, _ = run_all(sandbox, source, [b""] * 2, limits)
    assert [execution.ending for execution in executions] == [alone.ending] * 2


@pytest.mark.parametrize("size", [0, 4096, 4097, 65536, 65537, 3_000_000])
def test_input_of_any_size_that_is_read_or_not(sandbox: Sandbox, size: int) -> None:
    given = bytes(range(97, 123)) * (size // 26) + b"z" * (size % 26)
    read = "import sys, zlib\nprint(zlib.crc32(sys.stdin.buffer.read()))\n"
    executions, walls = run_all(sandbox, read, [given, b"x", given])
    expected = f"{zlib.crc32(given)}\n".encode()
    assert outputs(executions) == [expected, f"{zlib.crc32(b'x')}\n".encode(), expected]
    assert walls == 1
    executions, _ = run_all(sandbox, "print(1)", [given, b"x", given])
    assert outputs(executions) == [b"1\n"] * 3


def test_what_does_not_compile_is_not_tried_again(sandbox: Sandbox) -> None:
    executions, walls = run_all(sandbox, "print(1\n", [b""] * 3)
    assert [execution.ending for execution in executions] == [Exited(1)] * 3
    assert not any(execution.compiled for execution in executions)
    assert b"SyntaxError: '(' was never closed" in executions[2].stderr
    assert walls == 1


def test_what_takes_too_long_to_compile(sandbox: Sandbox) -> None:
    source = f"x = {'(' * 80}{'1+' * 900_000}1{')' * 80}\n"
    executions, _ = run_all(sandbox, source, [b""] * 2, Limits().with_seconds(0.2))
    for execution in executions:
        assert execution.ending != Exited(0)
        assert not execution.compiled


def test_a_program_gets_its_arguments(sandbox: Sandbox) -> None:
    program = Program(source="import sys\nprint(sys.argv)\n", args=("a", "-b"))
    runs = sandbox.repeat(program, QUICK, times=2)
    try:
        assert runs.run(b"", 1000).stdout == b"['main.py', 'a', '-b']\n"
    finally:
        runs.close()


def test_a_first_process_that_is_killed_from_outside_is_replaced(sandbox: Sandbox) -> None:
    runs = runs_of(sandbox, "print(input())\n")
    try:
        assert runs.run(b"1", 1000).stdout == b"1\n"
        (first,) = child_pids(runs._box.keeper)
        os.kill(first, signal.SIGKILL)
        assert runs.run(b"2", 1000).stdout == b"2\n"
        assert runs.run(b"3", 1000).stdout == b"3\n"
    finally:
        runs.close()


def test_a_keeper_that_is_killed_takes_all_with_it(sandbox: Sandbox) -> None:
    runs = runs_of(sandbox, "print(input())\n")
    try:
        assert runs.run(b"1", 1000).stdout == b"1\n"
        assert len(child_pids(runs._box.keeper)) == 1
        os.kill(runs._box.keeper, signal.SIGKILL)
        with pytest.raises(SandboxError):
            runs.run(b"2", 1000)
        runs._box._process.wait(10)
    finally:
        runs.close()


def test_a_box_is_empty_when_it_is_given_back(sandbox: Sandbox) -> None:
    runs = runs_of(sandbox, "print(input())\n")
    assert runs.run(b"1", 1000).stdout == b"1\n"
    runs.close()
    assert sandbox.run(Program(source="print(2)"), QUICK).stdout == b"2\n"
    assert child_pids(runs._box.keeper) == []
