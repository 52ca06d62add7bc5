"""Candidates whose walls stay for the next: as fresh as if each had walls of its own."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from proctor.errors import InputError, SandboxError
from proctor.judge import Judge
from proctor.judge.supervisor import GOODBYE, load_request
from proctor.program import Program
from proctor.sandbox import (
    MIB,
    Ending,
    Execution,
    Exited,
    Limits,
    OutOfMemory,
    OutputTooLong,
    SandboxFailed,
    Signalled,
    TimedOut,
)
from proctor.sandbox.box import Box
from proctor.sandbox.choose import open_sandbox
from proctor.sandbox.clock import children
from proctor.sandbox.warm import Warm
from proctor.selftest import run_trial
from proctor.task import Assertions, Task
from proctor.trials import corpus_folder, trials
from proctor.verdict import Passed
from tests.conftest import descendants
from tests.sandbox.inside.test_traces import CHANNELS, IN_FLIGHT, SEARCH, TRACES
from tests.sandbox.test_series import ATTACKS, COUNTS, LEFT, QUICK
from tests.sandbox.test_steady import anonymous_memory

TESTS = Assertions(targets=["f(1) == 2", "f(2) == 3"])
TASK = Task(task_id="t", entry_point="f", tests=TESTS, limits=QUICK)
RIGHT = Program(source="def f(x):\n    return x + 1\n")
PERSISTENCE = [
    trial
    for trial in trials(corpus_folder())
    if trial.language == "python"
    and trial.topic in ("persistence", "processes", "forging")
    and trial.kind in ("assertions", "check")
]


@pytest.fixture(scope="module")
def kept() -> Iterator[Warm]:
    try:
        opened = open_sandbox("kernel", sys.executable, walls="kept")
    except SandboxError as error:
        pytest.skip(str(error))
    assert isinstance(opened, Warm)
    yield opened
    keepers = [box.keeper for pool in opened._pools.values() for box in pool._idle]
    below = set(keepers).union(*map(descendants, keepers))
    opened.close()
    assert not any(Path(f"/proc/{pid}").exists() for pid in below)


def load(sandbox: Warm, source: str, limits: Limits = QUICK) -> Execution:
    """Load a candidate and ask it nothing."""
    return sandbox.exchange(load_request(source, denied=False) + GOODBYE, limits).execution


def printed(sandbox: Warm, source: str) -> bytes:
    execution = load(sandbox, source)
    assert execution.ending == Exited(0), execution
    return execution.stdout


def firsts(boxes: list[Box]) -> set[int]:
    """Return the processes that candidates of idle boxes fork from."""
    return {pid for box in boxes for pid in children(box.keeper)}


def test_walls_stay(kept: Warm, warm_boxes: Callable[..., list[Box]]) -> None:
    judge = Judge(kept)
    assert isinstance(judge.judge(TASK, RIGHT).verdict, Passed)
    standing = firsts(warm_boxes(kept))
    assert len(standing) == 1
    for _ in range(5):
        found = judge.judge(TASK, RIGHT)
        assert (found.verdict.bucket, found.attempts) == ("passed", 1)
        assert 0 < found.findings.usage.cpu_seconds < 0.5
        assert found.findings.usage.memory_bytes > 5 * MIB
    wrong = judge.judge(TASK, Program(source="def f(x):\n    return 2\n")).verdict
    assert (wrong.bucket, wrong.score) == ("wrong_answer", 0.5)
    assert firsts(warm_boxes(kept)) == standing


def test_it_is_written_down(kept: Warm) -> None:
    assert "other candidates" in kept.enforcement().walls


def test_other_tiers_have_none_to_keep() -> None:
    with pytest.raises(InputError, match="--walls kept: only the kernel tier"):
        open_sandbox("portable", sys.executable, walls="kept")


def test_nothing_is_kept_in_memory(kept: Warm) -> None:
    source = (
        "import builtins, os, sys\n"
        "print(hasattr(builtins, 'seen'), 'SEEN' in os.environ, os.getcwd(), os.umask(0))\n"
        "print(sorted(os.listdir('/proc/self/fd')), os.read(0, 1), os.listdir('.'))\n"
        "builtins.seen = os.environ['SEEN'] = 'seen'\n"
        "os.chdir('/'); sys.stdout.flush(); os.close(0); os.set_blocking(1, False)\n"
    )
    said = [printed(kept, source) for _ in range(3)]
    fresh = b"False False /tmp 18\n['0', '1', '2', '3', '4'] b'' []\n"  # 4: the list itself
    assert said == [fresh] * 3


@pytest.mark.parametrize("size", [100, 5000, 300_000])
def test_what_another_was_told_is_not_in_memory(kept: Warm, size: int) -> None:
    secret = b"what another was told"
    search = SEARCH.format(hidden=bytes(byte ^ 1 for byte in secret)).replace("found < 5", "found")
    before = printed(kept, search)
    kept.close()  # the first candidate of a slot is in its keeper's memory when that is made
    for _ in range(2):
        assert printed(kept, f"#{'x' * size}\nsecret = {secret.decode()!r} * 5\n") == b""
        assert printed(kept, search) == before


@pytest.mark.parametrize("do", ["pass", "time.sleep(1)", "os.fork() == 0 or os.wait()"])
def test_processes_that_one_leaves_end_with_it(kept: Warm, do: str) -> None:
    assert [printed(kept, LEFT.format(do=do)) for _ in range(3)] == [b"True\n"] * 3


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_the_process_that_candidates_fork_from_is_out_of_reach(kept: Warm, attack: str) -> None:
    if "open:" in attack:
        attack = attack.replace("range(3", "range(4")  # the third is the candidate's own border
    said = [printed(kept, f"import os, resource\n{attack}print('here')\n") for _ in range(3)]
    assert said == [b"here\n"] * 3


@pytest.mark.parametrize("trace", [trace for trace in TRACES.values() if "main.py" not in trace])
def test_a_trace_in_the_scratch_folder_is_gone(
    kept: Warm, warm_boxes: Callable[..., list[Box]], trace: str
) -> None:
    source = (
        "import os\n"
        "print(os.listdir('.'), oct(os.stat('.').st_mode), os.listxattr('.'))\n"
        f"try: {trace}\n"
        "except OSError as error: print(error)\n"
    )
    said = printed(kept, source)
    assert said.startswith(b"[] 0o40700 []\n")
    denied = b"Operation not supported" in said
    assert bool(firsts(warm_boxes(kept))) == denied, "walls with a trace are no more"
    assert [printed(kept, source) for _ in range(3)] == [said] * 3


@pytest.mark.parametrize("channel", [code for code in CHANNELS.values() if "main.py" not in code])
def test_one_hears_nothing_of_those_before(kept: Warm, channel: str) -> None:
    modules = "import array, contextlib, ctypes, mmap, os, resource, socket\n"
    said = [printed(kept, f"{modules}{IN_FLIGHT}{channel}") for _ in range(5)]
    assert set(said) == {said[0]}
    assert said[0]


ENDINGS = {
    "while True: pass": TimedOut("cpu"),
    "time.sleep(9)": TimedOut("wall"),
    "print('x' * 3_000_000)": OutputTooLong(),
    "os.kill(os.getpid(), 9)": Signalled(signal.SIGKILL),
    "os.abort()": Signalled(signal.SIGABRT),
    "os._exit(7)": Exited(7),
}


@pytest.mark.parametrize(("do", "ending"), ENDINGS.items(), ids=ENDINGS)
def test_one_that_is_ended_takes_no_other_with_it(kept: Warm, do: str, ending: Ending) -> None:
    limits = Limits().with_seconds(0.5)
    for _ in range(2):
        found = load(kept, f"import os, time\n{do}\n", limits).ending
        assert found == ending or (isinstance(found, TimedOut) and isinstance(ending, TimedOut))
        assert printed(kept, "print('here')\n") == b"here\n"


def test_memory_is_limited_and_said_to_be(kept: Warm) -> None:
    limits = msgspec.structs.replace(QUICK, memory_bytes=256 * MIB)
    hungry = (
        "import os, time\n"
        "for _ in range(9):\n"
        "    if os.fork() == 0:\n"
        "        block = bytearray(120 << 20)\n"
        "        time.sleep(9)\n"
        "time.sleep(9)\n"
    )
    for _ in range(2):
        assert load(kept, hungry, limits).ending == OutOfMemory()
        assert load(kept, "block = bytearray(64 << 20)\n", limits).ending == Exited(0)


def test_what_others_took_does_not_count(kept: Warm) -> None:
    limits = Limits().with_seconds(0.6)
    source = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n"
    assert {load(kept, source, limits).ending for _ in range(5)} == {Exited(0)}


@pytest.mark.parametrize("processes", [1, 2, 8])
def test_one_may_start_as_many_processes_as_alone(kept: Warm, processes: int) -> None:
    limits = msgspec.structs.replace(QUICK, processes=processes)
    alone = kept.run(Program(source=COUNTS), limits).stdout
    assert [load(kept, COUNTS, limits).stdout for _ in range(3)] == [alone] * 3


def test_walls_whose_first_process_is_killed_are_replaced(
    kept: Warm, warm_boxes: Callable[..., list[Box]]
) -> None:
    for _ in range(2):
        for _ in range(2):  # who lost his walls got some of his own, the next one some that stay
            assert printed(kept, "print('here')\n") == b"here\n"
        (first,) = firsts(warm_boxes(kept))
        os.kill(first, signal.SIGKILL)
    found = Judge(kept).judge(TASK, RIGHT)
    assert (found.verdict.bucket, found.attempts) == ("passed", 1)


LOCKS = """
import fcntl, os, struct
def lock(fd, what, kind, at):
    return struct.unpack("hhqqi4x", fcntl.fcntl(fd, what, struct.pack("hhqqi4x", kind, 0, at, 1, 0)))
print(lock(os.open(os.devnull, os.O_RDWR), 36, 1, 1 << 40)[0], fcntl.fcntl(0, fcntl.F_GETFL))
lock(0, 37, 0, 1 << 40)
fcntl.fcntl(0, fcntl.F_SETFL, os.O_APPEND)
"""
FRAMES = """
import sys
frame, seen = sys._getframe(), []
while frame:
    seen.append((frame.f_code.co_name, sorted(frame.f_locals)))
    for name, value in frame.f_locals.items():
        if name in ("ended", "report", "said", "order", "requests", "parcel"):
            print(name, value)
    frame = frame.f_back
import os
block = bytearray(77 << 20)
os._exit(99)
"""
HINT = """
import fcntl, os, struct
folder = os.open(".", os.O_RDONLY)
print(fcntl.fcntl(folder, 1035, bytes(8)))
try: fcntl.fcntl(folder, 1036, struct.pack("Q", 3))
except PermissionError: pass
"""


@pytest.mark.parametrize("source", [LOCKS, FRAMES, HINT], ids=["locks", "frames", "a hint"])
@pytest.mark.parametrize("sandbox", ["kernel"], indirect=True)
def test_what_the_kernel_or_we_know_of_one_is_not_for_the_next(
    kept: Warm, sandbox: Warm, source: str
) -> None:
    for walls in (kept, sandbox):
        first, *others = [load(walls, source).stdout for _ in range(3)]
        assert others == [first] * 2


def test_a_long_text_takes_no_memory_of_the_next(kept: Warm) -> None:
    limits = msgspec.structs.replace(QUICK, memory_bytes=128 * MIB)
    for size in (15 << 20, 100_000):
        source = f"#{'x' * size}\nblock = bytearray(90 << 20)\nprint('fits')\n"
        small = f"#{'x' * 100_000}\nblock = bytearray(100 << 20)\nprint('fits')\n"
        load(kept, source, limits)
        assert load(kept, small, limits).stdout == b"fits\n"


@pytest.mark.parametrize("sandbox", ["kernel"], indirect=True)
@pytest.mark.parametrize(("size", "memory"), [(8 << 20, 32 << 20), (14 << 20, 48 << 20)])
def test_too_little_memory_for_a_text_is_its_own_trouble(
    kept: Warm, sandbox: Warm, size: int, memory: int
) -> None:
    limits = msgspec.structs.replace(QUICK, memory_bytes=memory)
    endings = {load(one, f"#{'x' * size}\n", limits).ending for one in (kept, sandbox)}
    assert not any(isinstance(ending, SandboxFailed) for ending in endings)


@pytest.mark.parametrize("sandbox", ["kernel"], indirect=True)
def test_recursion_goes_as_deep_as_with_fresh_walls(kept: Warm, sandbox: Warm) -> None:
    source = (
        "def deep(n):\n"
        "    try: return deep(n + 1)\n"
        "    except RecursionError: return n\n"
        "print(deep(0))\n"
    )
    assert printed(kept, source) == printed(sandbox, source)


def test_a_killed_one_has_used_what_it_used_itself(kept: Warm) -> None:
    load(kept, "block = bytearray(400 << 20)\n")
    slept = load(kept, "import time\ntime.sleep(9)\n", Limits().with_seconds(0.5)).usage
    assert slept.cpu_seconds < 0.1
    assert slept.memory_bytes < 100 * MIB


STARVES = """
import os
for do in (lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)),
           lambda: os.sched_setaffinity(1, {0}), lambda: os.sched_setaffinity(0, {0})):
    try: do()
    except OSError: pass
for _ in range(60):
    if os.fork() == 0:
        while True: pass
while True: pass
"""


def test_nobody_starves_the_process_that_all_fork_from(kept: Warm) -> None:
    limits = Limits().with_seconds(0.5)
    assert isinstance(load(kept, STARVES, limits).ending, TimedOut)
    for _ in range(3):
        assert load(kept, "print('here')\n", limits).stdout == b"here\n"


MANY = (
    "print('here')\n",
    "open('left', 'w')\n",
    "import os\nos.abort()\n",
    "print('x' * 3_000_000)\n",
    "#" + "x" * 5000,
    "#" + "x" * 100_000,
)


@pytest.mark.parametrize("count", [20, pytest.param(4000, marks=pytest.mark.slow)])
def test_nothing_grows(kept: Warm, warm_boxes: Callable[..., list[Box]], count: int) -> None:
    def look(times: int) -> tuple[list[int], int]:
        for source in MANY * times:
            load(kept, source)
        load(kept, MANY[0])
        keepers = [box.keeper for box in warm_boxes(kept)]
        descriptors = [len(os.listdir(f"/proc/{pid}/fd")) for pid in keepers]
        return descriptors, sum(map(anonymous_memory, keepers))

    before, memory = look(2)
    after, more = look(count)
    assert after == before
    assert more < memory + 2 * MIB


@pytest.mark.parametrize("trial", PERSISTENCE, ids=lambda trial: f"{trial.name}-{trial.kind}")
def test_attacks_land_in_their_buckets(kept: Warm, trial: object) -> None:
    landing = run_trial(kept, trial)  # type: ignore[arg-type]
    assert landing.ok, landing
