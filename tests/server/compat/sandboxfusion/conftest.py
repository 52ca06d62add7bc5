"""A real server that speaks the dialect, on the loopback interface."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
import uvicorn

from proctor.errors import SandboxError
from proctor.sandbox import Sandbox
from proctor.sandbox.tiers.select import open_sandbox
from proctor.server.app import application
from proctor.server.service import Service
from proctor.settings import load_settings


@contextmanager
def served(sandbox: Sandbox, **how: Any) -> Iterator[str]:
    """Serve all dialects for a while; the sandbox is closed with the service."""
    service = Service(sandbox, **{"workers": 2, "settings": load_settings(), **how})
    config = uvicorn.Config(application(service), host="127.0.0.1", port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()
        service.close()


@pytest.fixture(scope="session")
def serve() -> Callable[..., Any]:
    """Return what serves, for tests that want a service of their own."""
    return served


def opened() -> Sandbox:
    """Open the tier that isolates best, or skip."""
    try:
        return open_sandbox("kernel", sys.executable)
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture
def kernel_of_its_own() -> Sandbox:
    """Open the tier for a service that will close it."""
    return opened()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Serve the dialect."""
    with served(opened()) as address:
        yield address


@pytest.fixture(scope="module")
def ask(url: str) -> Iterator[Callable[..., Any]]:
    """Return a function that posts an object, or text as it is, and returns status and answer."""
    client = httpx2.Client(base_url=url, timeout=60, trust_env=False)

    def post(path: str, body: Any, **headers: str) -> tuple[int, Any]:
        if isinstance(body, bytes):
            sent = {"content-type": "application/json", **headers}
            answer = client.post(path, content=body, headers=sent)
        else:
            answer = client.post(path, json=body, headers=headers)
        return answer.status_code, answer.json()

    yield post
    client.close()


@pytest.fixture
def run(ask: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs code and returns the answer."""

    def post(code: str, language: str = "python", **fields: Any) -> Any:
        status, answer = ask("/run_code", {"code": code, "language": language, **fields})
        assert status == 200, answer
        return answer

    return post


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have clients talk to this machine without anybody in between."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
