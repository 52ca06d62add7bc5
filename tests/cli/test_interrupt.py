"""Ctrl-C, or being asked to end: once finishes and saves what runs, twice stops now."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]
ARGS = ("score", "tasks.jsonl", "--completions", "slow.jsonl", "--out", "run", "--workers", "2")
TASKS = 12
NOTICE = "proctor: finishing what runs; Ctrl-C again stops now"
GO_ON = "proctor: interrupted; the same command with --out run goes on"


@pytest.fixture
def files(alone: Path, jsonl: Write) -> Path:
    """Make samples that take a while, each with a program of its own."""
    tests = {"kind": "assertions", "targets": ["f(1) == 1", "abs(f(2)) == 2"]}
    jsonl("tasks.jsonl", [{"task_id": f"t{n}", "tests": tests} for n in range(TASKS)])
    slow = "import time\ntime.sleep(0.5)\ndef f(x): return x"
    jsonl("slow.jsonl", [{"task_id": f"t{n}", "solution": f"{slow} # {n}"} for n in range(TASKS)])
    return alone


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "proctor", *args]


HEARS = (
    "import signal; signal.signal(signal.SIGINT, signal.{}); from proctor.cli import main; main()"
)


def hearing(*args: str, ear: str = "default_int_handler") -> list[str]:
    """Return a command that hears SIGINT, whatever our parent did."""
    return [sys.executable, "-c", HEARS.format(ear), *args]


def start(*args: str, ear: str = "default_int_handler") -> subprocess.Popen[str]:
    """Start a command in a session of its own."""
    return subprocess.Popen(
        hearing(*args, ear=ear),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def receipts() -> list[dict[str, Any]]:
    path = Path("run/receipts.jsonl")
    if not path.exists():
        return []
    lines = path.read_bytes().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def each_once(expected: int) -> None:
    counted = Counter((one["task_id"], one["sample"]) for one in receipts())
    assert set(counted.values()) == {1}
    assert len(counted) == expected
    completions = Path("run/completions.jsonl").read_text().splitlines()
    assert len({json.loads(line)["id"] for line in completions}) == len(completions) == expected


def below(pid: int) -> set[int]:
    """Return every process below a process, with those of other sessions."""
    found: set[int] = set()
    pending = [pid]
    while pending:
        for path in Path(f"/proc/{pending.pop()}/task").glob("*/children"):
            try:
                children = {int(child) for child in path.read_text().split()}
            except OSError:
                continue
            found |= children
            pending += children
    return found


def alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if Path(f"/proc/{pid}").exists() and not zombie(pid)}


def zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def gone(pids: set[int], seconds: float = 15.0) -> bool:
    end = time.monotonic() + seconds
    while alive(pids) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(pids)


def wait_for(what: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def watched() -> Iterator[list[subprocess.Popen[str]]]:
    """Hold processes, and end those that a failed test left."""
    held: list[subprocess.Popen[str]] = []
    yield held
    for process in held:
        if process.poll() is None:
            process.kill()
        process.communicate()


class Terminal:
    """A command in the foreground of a terminal of its own; what it prints goes to a file."""

    def __init__(self, *args: str) -> None:
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            line = ["sh", "-c", 'exec "$@" > printed', "sh", *hearing(*args)]
            os.execv("/bin/sh", line)
        self._shown = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 4096)
            except OSError:  # nobody is at the other end any more
                return
            self._shown += data

    def send_signal(self, number: int) -> None:
        """Press Ctrl-C; nothing else can be pressed."""
        assert number == signal.SIGINT
        os.write(self._master, b"\x03")

    def poll(self) -> int | None:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if pid else None

    def end(self) -> tuple[int, str, str]:
        _, status = os.waitpid(self.pid, 0)
        self._reader.join()
        os.close(self._master)
        shown = self._shown.decode().replace("^C", "").replace("\r\n", "\n")
        return os.waitstatus_to_exitcode(status), Path("printed").read_text(), shown


class Piped:
    """A command that was started by a program."""

    def __init__(self, *args: str) -> None:
        self._process = start(*args)
        self.pid = self._process.pid
        self.send_signal = self._process.send_signal
        self.poll = self._process.poll

    def end(self) -> tuple[int, str, str]:
        out, err = self._process.communicate(timeout=60)
        return self._process.returncode, out, err


Start = Callable[..., Any]
WAYS = [
    pytest.param(Terminal, signal.SIGINT, id="terminal"),
    pytest.param(Piped, signal.SIGINT, marks=pytest.mark.slow, id="SIGINT"),
    pytest.param(Piped, signal.SIGTERM, marks=pytest.mark.slow, id="SIGTERM"),
]


@pytest.mark.parametrize(("begin", "number"), WAYS)
def test_once_finishes_and_saves_what_runs(files: Path, begin: Start, number: int) -> None:
    process = begin(*ARGS, "--json")
    wait_for(lambda: len(receipts()) >= 2)
    family = below(process.pid)
    process.send_signal(number)
    status, out, err = process.end()
    assert (status, out) == (130, "")
    assert NOTICE in err.splitlines()
    assert err.splitlines()[-1].endswith(GO_ON)  # behind what takes a bar away
    saved = receipts()
    assert 3 <= len(saved) < TASKS
    assert {one["outcome"] for one in saved} == {"pass"}, "what ran was finished, not cut off"
    assert not Path("run/report.json").exists()
    assert gone(family)
    done = subprocess.run(command(*ARGS), capture_output=True, text=True, check=True)
    assert "12 of 12 samples passed" in done.stdout
    assert receipts()[: len(saved)] == saved
    each_once(TASKS)


@pytest.mark.parametrize(("begin", "number"), WAYS)
def test_twice_stops_now(files: Path, jsonl: Write, begin: Start, number: int) -> None:
    rows = [
        {"task_id": f"t{n}", "solution": f"import time\ntime.sleep({25 * (n > 1)} + {n} / 1000)"}
        for n in range(TASKS)
    ]
    jsonl("slow.jsonl", rows)
    process = begin(*ARGS, "--timeout", "30")
    wait_for(lambda: len(receipts()) >= 2)
    time.sleep(0.3)
    family = below(process.pid)
    process.send_signal(number)
    time.sleep(0.3)
    assert process.poll() is None, "the first time it waits"
    process.send_signal(number)
    status, out, err = process.end()
    assert (status, out) == (130, "")
    assert err.splitlines()[-1].endswith(GO_ON)
    assert "Traceback" not in err
    assert gone(family)
    assert len(receipts()) == 2, "samples that take 25 s were not waited for"


def test_how_to_go_on_is_said_for_the_shell(files: Path) -> None:
    """A folder we chose, a name with a blank; and --fresh would lose what was saved."""
    Path("my runs").mkdir()
    os.chdir("my runs")
    args = ("score", "../tasks.jsonl", "--completions", "../slow.jsonl", "--workers", "2")
    for more, said in (
        (["--out", "a run", "--fresh"], "without --fresh and with --out 'a run' goes on"),
        ([], "with --out runs/tasks/recorded_slow.jsonl/"),
    ):
        process = Piped(*args, *more)
        wait_for(lambda: any(path.stat().st_size for path in Path().rglob("receipts.jsonl")))
        process.send_signal(signal.SIGTERM)
        status, _, err = process.end()
        assert status == 130
        assert err.splitlines()[-1].startswith(f"proctor: interrupted; the same command {said}")
        for path in Path().rglob("receipts.jsonl"):
            path.unlink()


@pytest.mark.parametrize(("begin", "number"), WAYS)
def test_while_files_are_read(files: Path, begin: Start, number: int) -> None:
    """There is nothing to save, and nothing is begun."""
    with Path("slow.jsonl").open("w") as file:
        file.writelines(
            json.dumps({"task_id": "t1", "solution": f"{n}"}) + "\n" for n in range(500_000)
        )
    process = begin(*ARGS, "--json")

    def is_read() -> bool:
        with suppress(FileNotFoundError):  # one was closed while we looked
            files = Path(f"/proc/{process.pid}/fd").glob("*")
            return any(str(file.resolve()).endswith("slow.jsonl") for file in files)
        return False

    wait_for(is_read)
    process.send_signal(number)
    status, out, err = process.end()
    assert (status, out) == (130, "")
    assert err.splitlines()[-1].endswith("proctor: interrupted")
    assert "Traceback" not in err
    assert not Path("run").exists()


DOWNLOAD = """
import sys
import msgspec
from proctor import benchmarks
url = sys.argv.pop(1)
benchmarks.TABLE["mbpp"] = msgspec.structs.replace(benchmarks.TABLE["mbpp"], url=url)
from proctor.cli import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_while_something_is_fetched(alone: Path, number: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as publisher:
        url = f"http://127.0.0.1:{publisher.getsockname()[1]}/x"
        hears, _, _ = HEARS.format("default_int_handler").partition("; from")
        args = [sys.executable, "-c", hears + DOWNLOAD, url]
        process = subprocess.Popen(
            [*args, "benchmarks", "mbpp", "--download"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        visitor, _ = publisher.accept()
        visitor.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 1000\r\n\r\nnot all of it")
        time.sleep(0.3)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        visitor.close()
    assert (process.returncode, out, err) == (130, "", "proctor: interrupted\n")
    assert not list(alone.rglob("*mbpp*"))


def test_before_it_begins(files: Path, watched: list[subprocess.Popen[str]]) -> None:
    """While files are read there is nothing to save."""
    os.mkfifo("pipe")
    process = start("exec", "pipe")
    watched.append(process)
    ends: list[int] = []

    def is_read() -> bool:
        try:  # it opens only when the other end is open
            ends.append(os.open("pipe", os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    wait_for(is_read)
    # Between opening and reading Python would hear the signal only after what it reads.
    wait_for(lambda: "pipe_read" in Path(f"/proc/{process.pid}/wchan").read_text())
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    os.close(ends[0])
    assert (process.returncode, out, err) == (130, "", "proctor: interrupted\n")


def test_two_processes_on_one_folder(files: Path, watched: list[subprocess.Popen[str]]) -> None:
    process = start(*ARGS)
    watched.append(process)
    wait_for(lambda: len(receipts()) >= 1)
    process.send_signal(signal.SIGSTOP)  # it must not be done before the others have tried
    for more in ((), ("--fresh",)):
        second = subprocess.run(command(*ARGS, *more), capture_output=True, text=True, check=False)
        assert second.returncode == 2
        assert second.stderr.splitlines()[-1] == (
            "proctor: run is in use by another process; wait for it, or name another --out"
        )
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=60)
    assert process.returncode == 0
    each_once(TASKS)


def test_who_was_told_not_to_listen_does_not(
    files: Path, watched: list[subprocess.Popen[str]]
) -> None:
    """As a job in the background of a script."""
    process = start(*ARGS, ear="SIG_IGN")
    watched.append(process)
    wait_for(lambda: len(receipts()) >= 1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0
    each_once(TASKS)
