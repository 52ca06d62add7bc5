"""Proctor from Python: one sample, a stream, a program, a whole benchmark."""

import asyncio
import errno
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import api
from proctor.api import _Rows, as_completion, as_task, default_sandbox, usual_workers
from proctor.errors import InputError
from proctor.grading.prepare import Options
from proctor.grading.stream import WAITING
from proctor.judge.judge import Judge
from proctor.records.completion import Completion
from proctor.records.execution import Exited, TimedOut
from proctor.records.limits import Limits
from proctor.records.receipt import Receipt
from proctor.records.verdict import Bucket, Outcome

TASK: dict[str, Any] = {
    "task_id": "demo/1",
    "prompt": "def add(a, b):\n",
    "entry_point": "add",
    "tests": {"kind": "assertions", "targets": ["add(1, 2) == 3"]},
    "canonical_solution": "    return a + b\n",
}
RIGHT, WRONG = "    return a + b\n", "    return a - b\n"


def test_grade() -> None:
    receipt = proctor.grade(TASK, RIGHT)
    assert (receipt.outcome, receipt.score, receipt.task_id) == (Outcome.PASS, 1.0, "demo/1")
    assert proctor.grade(as_task(TASK), WRONG).outcome is Outcome.ASSERTION_FAIL


def test_grade_takes_records_and_options() -> None:
    whole = Completion(task_id="demo/1", sample=4, id="", completion=WRONG, whole=True)
    receipt = proctor.grade(TASK, whole)
    assert (receipt.sample, receipt.bucket) == (4, Bucket.SYNTAX)
    assert proctor.grade(TASK, "x" + RIGHT, Options(extract="never")).bucket is Bucket.SYNTAX


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"task_id": 3}, "task: Expected `str`, got `int` - at `$.task_id`"),
        ({"tests": {"kind": "assertions", "targets": []}}, "task: tests.targets is empty"),
        ({"metadata": {"timeout_s": 31}}, "task: metadata.timeout_s is 31; it must be above 0 and at most 30"),
    ],
)  # fmt: skip
def test_a_task_that_is_none(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        proctor.grade({**TASK, **changes}, RIGHT)
    assert str(caught.value) == said


def test_values_that_no_file_can_have() -> None:
    """Arguments from Python may be anything plain."""
    tests = {
        "kind": "calls",
        "fn_name": "f",
        "inputs": [[(1, 2)], [{1: {2, 3}}], ["\ud800"], [2**70]],
        "outputs": [2, 1, 1, None],
    }
    code = "def f(x): return None if isinstance(x, int) else len(x)\n"
    receipt = proctor.grade({"task_id": "t", "tests": tests}, code)
    assert receipt.outcome is Outcome.PASS, receipt.tests


def test_a_stream_comes_back_in_order() -> None:
    texts = [RIGHT if n % 3 else WRONG for n in range(20)]
    receipts = list(proctor.grade_many((TASK, text) for text in texts))
    assert [one.sample for one in receipts] == list(range(20))
    assert [one.outcome is Outcome.PASS for one in receipts] == [text == RIGHT for text in texts]


def test_a_stream_may_be_endless() -> None:
    taken = []

    def stream() -> Iterator[tuple[dict[str, Any], str]]:
        for number in count():
            taken.append(number)
            yield TASK, RIGHT

    receipts = proctor.grade_many(stream(), Options(workers=2))
    for _ in range(3):
        assert next(receipts).outcome is Outcome.PASS
    receipts.close()
    assert len(taken) <= 3 + WAITING * 2


def test_an_empty_stream() -> None:
    assert list(proctor.grade_many([])) == []


def test_a_bad_sample_ends_the_stream_after_those_before_it() -> None:
    receipts = proctor.grade_many([(TASK, RIGHT), (TASK, WRONG), ({"task_id": "x"}, RIGHT)])
    assert [next(receipts).outcome, next(receipts).outcome] == [
        Outcome.PASS,
        Outcome.ASSERTION_FAIL,
    ]
    with pytest.raises(InputError, match=r"task: Object missing required field `tests`"):
        next(receipts)


def test_rows_that_change_are_other_tasks() -> None:
    """A source may fill one mapping again and again."""

    def stream() -> Iterator[tuple[dict[str, Any], str]]:
        row: dict[str, Any] = {"task_id": "t", "tests": {"kind": "calls", "fn_name": "f"}}
        for number in range(6):
            row["tests"].update(inputs=[[1]], outputs=[number])
            yield row, "def f(x): return 3\n"

    passed = [one.outcome is Outcome.PASS for one in proctor.grade_many(stream())]
    assert passed == [number == 3 for number in range(6)]


def test_a_row_that_comes_again_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = as_task(TASK)
    assert as_task(json.loads(json.dumps(TASK))) is first
    tuples = {**TASK, "tests": {**TASK["tests"], "targets": tuple(TASK["tests"]["targets"])}}
    assert as_task(tuples) is not first
    monkeypatch.setattr("proctor.api.ROWS_BYTES", 100_000)
    rows = _Rows()
    tasks = [rows.task({**TASK, "prompt": f"# {n}" + "x" * 10_000}) for n in range(50)]
    assert len({task.prompt for task in tasks}) == 50
    assert 1 < len(rows._tasks) < 10
    assert rows._bytes <= 100_000


def test_a_row_that_cannot_be_remembered() -> None:
    row = {**TASK, "unknown": (n for n in range(3))}
    assert proctor.grade(row, RIGHT).outcome is Outcome.PASS


def test_identical_samples_only_when_asked() -> None:
    pairs = [(TASK, RIGHT)] * 3
    options = Options(workers=1, reuse=True)
    assert [one.reused_from for one in proctor.grade_many(pairs, options)] == [None, 0, 0]
    assert [one.reused_from for one in proctor.grade_many(pairs)] == [None] * 3


def test_from_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many callers there are, no more candidates run at once than there are workers."""
    real, lock, running, most = api._grade, threading.Lock(), [0], [0]

    def grade(*args: Any) -> Receipt:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        try:
            return real(*args)
        finally:
            with lock:
                running[0] -= 1

    monkeypatch.setattr(api, "_grade", grade)
    with ThreadPoolExecutor(32) as pool:
        receipts = list(pool.map(lambda n: proctor.grade(TASK, (WRONG, RIGHT)[n % 2]), range(64)))
    assert [one.outcome is Outcome.PASS for one in receipts] == [False, True] * 32
    assert 1 <= most[0] <= usual_workers()


def test_how_many_at_once_can_be_set(tmp_path: Path) -> None:
    (tmp_path / "proctor.toml").write_text("workers = 3\n")
    command = [sys.executable, "-c", "from proctor.api import *; print(usual_workers())"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ran.stdout == "3\n"


def test_from_asyncio() -> None:
    async def both() -> list[Any]:
        jobs = (asyncio.to_thread(proctor.grade, TASK, text) for text in (RIGHT, WRONG))
        return [one.outcome for one in await asyncio.gather(*jobs)]

    assert asyncio.run(both()) == [Outcome.PASS, Outcome.ASSERTION_FAIL]


async def _answers(texts: list[str]) -> AsyncIterator[tuple[dict[str, Any], str]]:
    for text in texts:
        await asyncio.sleep(0)
        yield TASK, text


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_stream_from_asyncio(asynchronous: bool) -> None:
    texts = [RIGHT, WRONG, RIGHT]
    source = _answers(texts) if asynchronous else ((TASK, text) for text in texts)

    async def main() -> list[Any]:
        return [(one.sample, one.outcome) async for one in proctor.grade_many(source)]

    wanted = [Outcome.PASS, Outcome.ASSERTION_FAIL, Outcome.PASS]
    assert asyncio.run(main()) == list(enumerate(wanted))


def test_many_streams_of_one_loop() -> None:
    async def one(text: str) -> list[bool]:
        stream = proctor.grade_many((TASK, text) for _ in range(8))
        return [receipt.outcome is Outcome.PASS async for receipt in stream]

    async def main() -> list[list[bool]]:
        return await asyncio.gather(*(one(text) for text in (RIGHT, WRONG) * 3))

    assert asyncio.run(main()) == [[True] * 8, [False] * 8] * 3


def test_inside_a_running_loop_as_in_a_notebook() -> None:
    """A cell of a notebook runs inside a loop, and may still use what is not asynchronous."""

    async def cell() -> list[Any]:
        several = [one.outcome for one in proctor.grade_many([(TASK, RIGHT), (TASK, WRONG)])]
        return [*several, proctor.grade(TASK, RIGHT).outcome, proctor.execute("1").ending]

    wanted = [Outcome.PASS, Outcome.ASSERTION_FAIL, Outcome.PASS, Exited(0)]
    assert asyncio.run(cell()) == wanted


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_from_a_daemon_process(method: str) -> None:
    """It may have no children by multiprocessing; and a forked one has a sandbox of its own."""
    assert proctor.grade(TASK, RIGHT).outcome is Outcome.PASS
    # whoever handles that signal in this process, its forks are asked by it to end
    mortal = (signal.signal, (signal.SIGTERM, signal.SIG_DFL))
    with multiprocessing.get_context(method).Pool(2, *mortal) as pool:
        receipts = pool.starmap(proctor.grade, [(TASK, RIGHT), (TASK, WRONG)] * 2)
    assert [one.outcome for one in receipts] == [Outcome.PASS, Outcome.ASSERTION_FAIL] * 2
    assert proctor.grade(TASK, RIGHT).outcome is Outcome.PASS


def test_a_fork_in_the_middle_does_not_hang() -> None:
    """The lock may be held by a thread that the child does not have."""
    held, go = threading.Event(), threading.Event()

    def hold() -> None:
        with api._process.lock:
            held.set()
            go.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(30)
    pid = os.fork()
    if pid == 0:
        os._exit(17 if api._process.lock.acquire(timeout=5) else 1)
    go.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 17


HOST = """
import os, sys, time
import proctor
task = {"task_id": "t", "tests": {"kind": "assertions", "targets": ["f(1) == 2"]}}
proctor.grade(task, "def f(x): return x + 1\\n")
child = os.fork()
if child == 0:
    os.close(1)
    time.sleep(200)
    os._exit(0)
print(child, flush=True)
END
"""


@pytest.mark.parametrize("end", ["time.sleep(200)", "sys.exit(3)", "os.abort()"])
def test_the_pool_goes_with_the_process(
    end: str, processes_below: Callable[[int], set[int]]
) -> None:
    """However it ends, by kill -9 above all, and though a worker that it forked lives on."""
    host = subprocess.Popen(
        [sys.executable, "-c", HOST.replace("END", end)], stdout=subprocess.PIPE
    )
    assert host.stdout is not None
    child = int(host.stdout.readline())
    below = processes_below(host.pid) - {child}
    if end.startswith("time"):
        assert below
        host.send_signal(signal.SIGKILL)
    host.wait(60)
    host.stdout.close()
    try:
        last = time.monotonic() + 60
        while any(alive(pid) for pid in below) and time.monotonic() < last:
            time.sleep(0.02)
        assert not [pid for pid in below if alive(pid)]
        assert alive(child)
    finally:
        os.kill(child, signal.SIGKILL)


def alive(pid: int) -> bool:
    """Say whether a process runs; one that nobody has reaped does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


ADOPTING = """
import ctypes, os, subprocess, sys
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # orphans of those below us become our own
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("no orphans")
"""


def test_nobody_is_left_to_be_reaped_at_a_usual_end() -> None:
    """In a container there may be nobody who does."""
    code = HOST.split("child =", maxsplit=1)[0]
    command = [sys.executable, "-c", ADOPTING, code]
    ran = subprocess.run(command, capture_output=True, check=True, text=True)
    assert (ran.stdout, ran.stderr) == ("no orphans\n", "")


FLAT = """
import asyncio, sys
from pathlib import Path
import proctor

task = {"task_id": "t", "tests": {"kind": "assertions", "targets": ["f(1) == 2"]}}
COUNT = int(sys.argv[1])

def resident():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])

async def programs():
    for number in range(3 * COUNT):
        yield task, f"# {number}" + "x" * 100_000 + "\\ndef f(x): return x + 1\\n"

async def main():
    sizes, passed = [], 0
    async for receipt in proctor.grade_many(programs()):
        passed += receipt.outcome == "pass"
        if (receipt.sample + 1) % COUNT == 0:
            sizes.append(resident())
    print(passed, *sizes)

asyncio.run(main())
"""


def test_memory_is_flat() -> None:
    """Every program is one of its own, of 100 kB: whoever kept them would grow by 10 MB."""
    count = 100
    ran = subprocess.run(
        [sys.executable, "-c", FLAT, str(count)], capture_output=True, text=True, check=True
    )
    passed, _, second, third = map(int, ran.stdout.split())
    assert passed == 3 * count
    assert third - second < 5_000


# frameworks that host us; each has its like in plain Python above


def test_inside_a_data_loader() -> None:
    from torch.utils import data

    class Scores:
        def __len__(self) -> int:
            return 8

        def __getitem__(self, place: int) -> float:
            return proctor.grade(TASK, (WRONG, RIGHT)[place % 2]).score or 0.0

    proctor.grade(TASK, RIGHT)
    loader = data.DataLoader(Scores(), batch_size=4, num_workers=2)
    assert [batch.tolist() for batch in loader] == [[0.0, 1.0] * 2] * 2


def test_one_sandbox_a_process() -> None:
    assert default_sandbox() is default_sandbox()


# execute


def test_execute() -> None:
    code = "import sys\nprint(input(), sys.argv[1:])\nsys.exit(3)"
    execution = proctor.execute(code, "hello\n", args=("a", "b"))
    assert (execution.ending, execution.stdout) == (Exited(3), b"hello ['a', 'b']\n")


def test_execute_has_a_clock() -> None:
    ending = proctor.execute("while True: pass", timeout_s=0.3).ending
    assert isinstance(ending, TimedOut)
    limits = Limits(cpu_seconds=0.3, wall_seconds=0.3)
    assert isinstance(proctor.execute("while True: pass", limits=limits).ending, TimedOut)


@pytest.mark.parametrize("seconds", [0, -3, float("nan"), float("inf")])
def test_execute_refuses_nonsense(seconds: float) -> None:
    with pytest.raises(InputError, match="it must be a number of seconds above 0"):
        proctor.execute("pass", timeout_s=seconds)


def test_as_completion() -> None:
    task = as_task(TASK)
    said = as_completion(task, "x", 3)
    assert (said.task_id, said.sample, said.id, said.completion) == ("demo/1", 3, "0_s3", "x")
    assert as_completion(task, said) is said


# evaluate


def test_evaluate(alone: Path, jsonl: Callable[..., Path]) -> None:
    tasks = jsonl("tasks.jsonl", [TASK, {**TASK, "task_id": "demo/2"}])
    summary = proctor.evaluate(str(tasks), out=alone / "run")
    assert (summary.benchmark, summary.passed, summary.samples) == ("tasks", 2, 2)
    assert (alone / "run" / "report.json").exists()


def test_evaluate_recorded_completions(alone: Path, jsonl: Callable[..., Path]) -> None:
    tasks = jsonl("tasks.jsonl", [TASK, {**TASK, "task_id": "demo/2"}])
    rows = [{"task_id": "demo/1", "completion": text} for text in (RIGHT, WRONG)]
    samples = jsonl("s.jsonl", rows)
    with pytest.raises(InputError, match="no completion for 1 of 2 tasks"):
        proctor.evaluate(str(tasks), completions=samples)
    given: dict[str, Any] = {"completions": samples, "partial": True, "out": "run"}
    summary = proctor.evaluate(str(tasks), **given, ks=[2])
    assert summary.pass_at_k["2"].value == 1.0
    with pytest.raises(InputError, match="belongs to another run: its preamble"):
        proctor.evaluate(str(tasks), **given, options=Options(preamble="base"))
    fresh = proctor.evaluate(str(tasks), **given, options=Options(preamble="base"), fresh=True)
    assert fresh.passed == 1


def test_a_host_that_gives_out_costs_a_sample_its_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A trainer goes on; the next sample may fare better."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Judge, "_judge", full)
        one = proctor.grade(TASK, RIGHT)
    assert (one.outcome, one.bucket) == (None, Bucket.HARNESS)
    assert one.detail == f"cannot judge {TASK['task_id']}: No space left on device"
    assert proctor.grade(TASK, RIGHT).outcome is Outcome.PASS
