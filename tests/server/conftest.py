"""A real server in a process of its own, and what is left of it afterwards."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

START_SECONDS = 60.0
WITH_BOUNDS = """
import json, sys
from proctor.cli import main
from proctor.server import service
bounds, usual = json.loads(sys.argv.pop(1)), service.ServiceLimits
service.ServiceLimits = lambda: usual(**bounds)
main()
"""
"""`proctor`, but nobody wants to wait for as long as clients may take."""


class Running:
    """A server that was started for a test."""

    def __init__(self, folder: Path, *args: str, bounds: dict[str, Any] | None = None) -> None:
        self.folder = folder
        self.scratch = folder / "scratch"
        self.scratch.mkdir(parents=True)
        self.log_path, self.said_path = folder / "access.log", folder / "said.txt"
        how = ["-m", "proctor"] if bounds is None else ["-c", WITH_BOUNDS, json.dumps(bounds)]
        command = [sys.executable, *how, "serve", "--port", "0", *args]
        with self.log_path.open("wb") as log, self.said_path.open("wb") as said:
            self.process = subprocess.Popen(
                command,
                stdout=log,
                stderr=said,
                env={**os.environ, "TMPDIR": str(self.scratch)},
            )
        self.url = self._address()
        self.client = httpx2.Client(base_url=self.url, timeout=60.0)

    def _address(self) -> str:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            said = self.said_path.read_text()
            if "serving at " in said:
                return said.partition("serving at ")[2].split()[0]
            if self.process.poll() is not None:
                pytest.fail(f"the server does not start: {said}")
            time.sleep(0.05)
        pytest.fail("the server does not start")

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def say(self, text: bytes, patience: float = 20.0) -> bytes:
        """Send bytes over a connection of their own; return what comes until it ends or pauses."""
        said = b""
        with self.connect() as connection:
            try:
                connection.sendall(text)
                connection.settimeout(patience)
                while part := connection.recv(65536):
                    said += part
                    connection.settimeout(0.2)
            except (ConnectionError, TimeoutError):
                pass
        return said

    def execute(self, code: str, **more: Any) -> httpx2.Response:
        return self.client.post("/v1/execute", json={"code": code, **more})

    def metrics(self) -> dict[str, float]:
        lines = self.client.get("/metrics").text.splitlines()
        pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
        return {name: float(value) for name, _, value in pairs}

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log_path.read_text().splitlines()]

    def wait_for(self, what: Callable[[], bool], seconds: float = 20.0) -> None:
        end = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < end, "it did not come to pass"
            time.sleep(0.05)

    def stop(self) -> int:
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise
        return self.process.returncode


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Serve without keys, two workers, for tests that leave nothing behind."""
    running = Running(tmp_path_factory.mktemp("server"), "--workers", "2")
    yield running
    assert running.stop() == 0
    assert "Traceback" not in running.said_path.read_text()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Return a function that starts a server of one's own."""
    started: list[Running] = []

    def start(*args: str, **more: Any) -> Running:
        started.append(Running(tmp_path / f"server{len(started)}", *args, **more))
        return started[-1]

    yield start
    for running in started:
        running.stop()
