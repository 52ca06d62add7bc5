"""How many requests a second the service answers, and how late, beside SandboxFusion.

    python benchmarks/service.py [--seconds 10] [--concurrency 32,64] [--only run_code]
    python benchmarks/service.py --url http://127.0.0.1:8080 --only run_code   # any such server

The load comes from a process of its own over connections that stay open, one request at a time on
each; every program is another one, so nothing can be answered from memory. Unless --url names a
server, `proctor serve` is started for the measurement. What is asked:

    run_code   a function and its asserts, as in HumanEval, at POST /run_code
    execute    the same at POST /v1/execute
    verl       POST /run_code as verl does: a program that reads 15 inputs, one request for each
    grade      POST /v1/grade: the same program and all 15 tests in one request
    calls      POST /v1/grade: 15 calls of a function, which one process answers

Figures of SandboxFusion are arguments, because it is not run here. The defaults were measured on
two cores with the client on the same machine (commit 469de084, isolation none): 47.5 requests/s at
32 and 48.9/s at 64 concurrent, p99 2.325 s; verl's load 51 requests/s at best. A bare interpreter
there took 0.65 ms to fork and to wait for its child; what it takes here, and what part of the
processors a hypervisor took meanwhile, is printed, too. Measure your own for your machine; a ratio
is worth something only if both ran on the same one, alone.
"""

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

from machine import CpuSteal, fork_milliseconds

TESTS = 15
TRIVIAL = '''
def has_close_elements(numbers, threshold):
    """Say whether any two numbers are closer to each other than the threshold."""
    for place, one in enumerate(numbers):
        for other in numbers[place + 1:]:
            if abs(one - other) < threshold:
                return True
    return False

def check(candidate):
    assert candidate([1.0, 2.0, 3.9, 4.0, 5.0, 2.2], 0.3) == True
    assert candidate([1.0, 2.0, 3.9, 4.0, 5.0, 2.2], 0.05) == False
    assert candidate([1.0, 2.0, 5.9, 4.0, 5.0], 0.95) == True
    assert candidate([1.1, 2.2, 3.1, 4.1, 5.1], 0.5) == False

check(has_close_elements)
'''
READER = "n = int(input())\nnumbers = list(map(int, input().split()))\nprint(sum(numbers[:n]))\n"
INPUTS = [f"{n}\n{' '.join(map(str, range(n)))}\n" for n in range(1, TESTS + 1)]
OUTPUTS = [f"{sum(range(n))}\n" for n in range(1, TESTS + 1)]

Request = tuple[str, bytes, Callable[[bytes], bool], int]
"""Path, body, whether an answer is right, and how many tests it is about."""


def run_code() -> Iterator[Request]:
    for number in count():
        body = {"code": f"{TRIVIAL}# {number}\n", "language": "python", "run_timeout": 10}
        yield "/run_code", json.dumps(body).encode(), lambda text: b'"Success"' in text, 1


def execute() -> Iterator[Request]:
    for number in count():
        body = {"code": f"{TRIVIAL}# {number}\n"}
        yield "/v1/execute", json.dumps(body).encode(), lambda text: b'"exit_code":0' in text, 1


def verl() -> Iterator[Request]:
    for number in count():
        for given, wanted in zip(INPUTS, OUTPUTS, strict=True):
            body = {
                "compile_timeout": 10,
                "run_timeout": 10,
                "memory_limit_MB": 1024,
                "code": f"{READER}# {number}\n",
                "stdin": given,
                "language": "python",
                "files": {},
                "fetch_files": [],
            }
            right = json.dumps(wanted).encode()
            yield "/run_code", json.dumps(body).encode(), lambda text, r=right: r in text, 1


def grade() -> Iterator[Request]:
    task = {
        "task_id": "sums",
        "tests": {"kind": "stdin", "inputs": INPUTS, "outputs": OUTPUTS},
    }
    for number in count():
        body = {"task": task, "completion": f"```python\n{READER}# {number}\n```"}
        yield "/v1/grade", json.dumps(body).encode(), lambda text: b'"score":1.0' in text, TESTS


def grade_calls() -> Iterator[Request]:
    tests = {
        "kind": "calls",
        "fn_name": "total",
        "inputs": [[list(range(n))] for n in range(1, TESTS + 1)],
        "outputs": [sum(range(n)) for n in range(1, TESTS + 1)],
    }
    for number in count():
        code = f"def total(numbers):\n    return sum(numbers)\n# {number}\n"
        body = {"task": {"task_id": "sums", "tests": tests}, "completion": code}
        yield "/v1/grade", json.dumps(body).encode(), lambda text: b'"score":1.0' in text, TESTS


KINDS = {
    "run_code": run_code,
    "execute": execute,
    "verl": verl,
    "grade": grade,
    "calls": grade_calls,
}


class Tally:
    """What came of a load."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.tests = self.wrong = 0


async def lane(host: str, port: int, requests: Iterator[Request], end: float, tally: Tally) -> None:
    """Send one request after the other over one connection."""
    reader, writer = await asyncio.open_connection(host, port)
    while time.monotonic() < end:
        path, body, right, tests = next(requests)
        head = (
            f"POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\n\r\n"
        )
        begun = time.monotonic()
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        fields = answer.lower().split(b"\r\n")
        length = next(int(line[15:]) for line in fields if line.startswith(b"content-length:"))
        text = await reader.readexactly(length)
        tally.seconds.append(time.monotonic() - begun)
        good = answer.startswith(b"HTTP/1.1 200") and right(text)
        tally.wrong += not good
        tally.tests += tests if good else 0
    writer.close()


async def load(url: str, kind: str, concurrency: int, seconds: float) -> dict[str, float]:
    """Keep so many requests under way for so long."""
    parts = urlsplit(url)
    host, port = parts.hostname or "127.0.0.1", parts.port or 80
    requests = KINDS[kind]()
    warm, tally = Tally(), Tally()
    await lane(host, port, requests, time.monotonic() + 1.0, warm)
    begun = time.monotonic()
    lanes = (lane(host, port, requests, begun + seconds, tally) for _ in range(concurrency))
    await asyncio.gather(*lanes)
    passed = time.monotonic() - begun
    ordered = sorted(tally.seconds)
    cuts = statistics.quantiles(ordered, n=100) if len(ordered) > 1 else ordered * 99
    return {
        "requests_per_second": len(ordered) / passed,
        "tests_per_second": tally.tests / passed,
        **{f"p{percent}_ms": 1000 * cuts[percent - 1] for percent in (50, 95, 99)},
        "wrong": tally.wrong,
    }


def start_server(workers: int) -> tuple[subprocess.Popen[str], str]:
    """Start a server and wait until it serves."""
    command = [sys.executable, "-m", "proctor", "serve", "--port", "0", "--quiet"]
    command += ["--workers", str(workers)] if workers else []
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in server.stderr or ():
        if "serving at " in line:
            return server, line.partition("serving at ")[2].split()[0]
        print(line, end="", file=sys.stderr)
    raise SystemExit("the server does not start")


def processor_seconds(pid: int) -> float:
    """Return what a process and all it waited for have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def show(kind: str, concurrency: int, found: dict[str, float], given: argparse.Namespace) -> None:
    """Print one line, and how it compares."""
    rate, tests = found["requests_per_second"], found["tests_per_second"]
    line = (
        f"{kind:<9} {concurrency:>4} at once  {rate:8.1f} requests/s  {tests:8.1f} tests/s  "
        f"p50 {found['p50_ms']:7.1f} ms  p95 {found['p95_ms']:7.1f}  p99 {found['p99_ms']:7.1f}"
    )
    if kind in ("run_code", "execute") and concurrency in (32, 64):
        theirs = given.fusion_rate_32 if concurrency == 32 else given.fusion_rate_64
        line += f"  {rate / theirs:5.1f}x"
        if concurrency == 64:
            line += f" (p99 {found['p99_ms'] / given.fusion_p99_ms:.2f}x)"
    elif kind in ("verl", "grade", "calls"):
        line += f"  {tests / given.fusion_verl_rate:5.1f}x tests"
    print(line + (f"  WRONG: {found['wrong']:.0f}" if found["wrong"] else ""), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--url", help="a server that runs already")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--concurrency", default="32,64")
    parser.add_argument("--workers", type=int, default=0, help="of the server; 0: as it likes")
    parser.add_argument("--only", choices=KINDS, action="append")
    parser.add_argument("--load", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--fusion-rate-32", type=float, default=47.5, help="requests/s")
    parser.add_argument("--fusion-rate-64", type=float, default=48.9, help="requests/s")
    parser.add_argument("--fusion-p99-ms", type=float, default=2325.0)
    parser.add_argument("--fusion-verl-rate", type=float, default=51.0, help="requests/s")
    given = parser.parse_args()
    if given.load:  # we are the process that makes the load
        kind, concurrency = given.load[0], int(given.load[1])
        print(json.dumps(asyncio.run(load(given.url, kind, concurrency, given.seconds))))
        return
    server, url = (None, given.url) if given.url else start_server(given.workers)
    print(f"{url}, {len(os.sched_getaffinity(0))} processors, {given.seconds:g} s each")
    print(f"a bare fork takes {fork_milliseconds():.2f} ms")
    print(
        f"ratios to SandboxFusion at {given.fusion_rate_32:g} (32 at once), "
        f"{given.fusion_rate_64:g} (64) and {given.fusion_verl_rate:g} (verl) requests/s, p99 "
        f"{given.fusion_p99_ms:g} ms, as given or by default; see --help and this file"
    )
    try:
        for kind in given.only or KINDS:
            for concurrency in map(int, given.concurrency.split(",")):
                before, steal = processor_seconds(server.pid) if server else 0.0, CpuSteal()
                command = [sys.executable, __file__, "--url", url, "--seconds", str(given.seconds)]
                asked = [*command, "--load", kind, str(concurrency)]
                text = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
                found = json.loads(text)
                show(kind, concurrency, found, given)
                print(f"{'':<9} a hypervisor took {steal.share():.0%} of the processors")
                if server:
                    used = processor_seconds(server.pid) - before
                    each = 1000 * used / (found["requests_per_second"] * given.seconds)
                    print(f"{'':<9} about {each:.2f} ms of the server's own processor time each")
    finally:
        if server:
            server.send_signal(signal.SIGTERM)
            server.wait()


if __name__ == "__main__":
    main()
