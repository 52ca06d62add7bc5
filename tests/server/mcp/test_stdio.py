"""Lines over standard streams: bounded, hostile, cut off."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.server.mcp.stdio import MAX_LINE, bounded_lines


@given(st.lists(st.binary(min_size=1, max_size=12)), st.integers(1, 10))
def test_lines_are_those_of_the_whole_and_none_is_longer_than_allowed(chunks, max_bytes):
    parts = iter([*chunks, b""])
    found = list(bounded_lines(lambda: next(parts), max_bytes))
    *ended, rest = b"".join(chunks).split(b"\n")
    lines = [*ended, *([rest] if rest else [])]
    assert found == [line if len(line) <= max_bytes else None for line in lines]


HOSTILE = [
    b"",
    b"\0\0\0",
    b"null",
    b"[]",
    b"{}",
    b'"' + b"\\" * 1001,
    b"[" * 200_000,
    b'{"a":' * 50_000,
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute","arguments":7}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute","arguments":null}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute","arguments":{"code":"\\ud800"}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":[]}}',
    b'{"jsonrpc":"2.0","id":99999999999999999999999999,"method":"ping"}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
    b"Content-Length: 10\r",
]


def test_hostile_lines_do_not_end_it(agent):
    for number, line in enumerate(HOSTILE):
        agent.write(line)
        agent.request(f"after {number}", "ping")
        while agent.read()["id"] != f"after {number}":
            pass


def test_a_line_without_end_is_refused_and_the_next_one_read(agent):
    assert agent.process.stdin is not None
    for _ in range(MAX_LINE // 65536 + 2):
        agent.process.stdin.write(b"x" * 65536)
    agent.write(b"")
    assert agent.read()["error"]["message"] == f"a line has at most {MAX_LINE} bytes"
    assert agent.ask(1, "ping")["result"] == {}


def test_at_the_end_of_the_input_what_was_asked_is_answered():
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "execute", "arguments": {"code": "import time; time.sleep(1); print(1)"}}},
    ]  # fmt: skip
    ran = subprocess.run(
        [sys.executable, "-m", "proctor", "mcp"],
        input="\n".join(map(json.dumps, lines)),  # the last line has no end
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stderr == ""
    first, second = map(json.loads, ran.stdout.splitlines())
    assert first["result"]["protocolVersion"] == "2025-06-18"
    assert second["result"]["structuredContent"]["stdout"] == "1\n"


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL, None])
def test_nothing_is_left_of_it(start, end, processes_below):
    agent = start()
    agent.begin()
    agent.call(1, "execute", code="print(1)")
    code = "import time\nwhile True: time.sleep(1)"
    agent.request(2, "tools/call", name="execute", arguments={"code": code, "timeout_s": 200})
    time.sleep(0.5)
    below = processes_below(agent.process.pid)
    assert below
    if end is None:  # nobody reads any more, which it finds out when it answers
        assert agent.process.stdout is not None
        agent.process.stdout.close()
        agent.request(3, "ping")
    else:
        agent.process.send_signal(end)
    agent.process.wait(30)
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in below):
        assert time.monotonic() < deadline
        time.sleep(0.05)
