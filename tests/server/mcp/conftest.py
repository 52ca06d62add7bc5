"""`proctor mcp` in a process of its own, spoken to line by line."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


class Agent:
    """A client that can say anything."""

    def __init__(self, said: Path) -> None:
        self.said_path = said
        with said.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "proctor", "mcp", "--workers", "2"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), self.said_path.read_text()
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def tell(self, method: str, **params: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def request(self, id_: Any, method: str, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
        self.write(json.dumps(message).encode())

    def ask(self, id_: Any, method: str, **params: Any) -> dict[str, Any]:
        self.request(id_, method, **params)
        answer = self.read()
        assert answer["id"] == id_
        return answer

    def begin(self, version: str = "2025-11-25") -> dict[str, Any]:
        answer = self.ask(
            *(0, "initialize"),
            protocolVersion=version,
            capabilities={},
            clientInfo={"name": "a test", "version": "1"},
        )
        self.tell("notifications/initialized")
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, id_: Any, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = self.ask(id_, "tools/call", name=tool, arguments=arguments)
        result: dict[str, Any] = answer["result"]
        return result

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(60)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Agent]]:
    """Return a function that starts a server of one's own."""
    started: list[Agent] = []

    def begin() -> Agent:
        started.append(Agent(tmp_path / f"said{len(started)}.txt"))
        return started[-1]

    yield begin
    for agent in started:
        if agent.process.poll() is None:
            agent.process.kill()
        agent.process.wait()
        for stream in (agent.process.stdin, agent.process.stdout):
            assert stream is not None
            stream.close()


@pytest.fixture(scope="session")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """Speak to a server that tests share, and that must outlive them."""
    running = Agent(tmp_path_factory.mktemp("mcp") / "said.txt")
    running.begin()
    yield running
    assert running.end() == 0
    assert "Traceback" not in running.said_path.read_text()
    for stream in (running.process.stdin, running.process.stdout):
        assert stream is not None
        stream.close()
