"""A service whose sandbox is broken says so, and that it works again."""

import os
import shutil
import signal
from collections.abc import Callable
from typing import Any

import pytest

Running = Any
"""The server of conftest.py."""


def test_a_broken_sandbox_is_no_place_to_send_work(
    serve: Callable[..., Running], processes_below: Callable[[int], set[int]]
) -> None:
    """Where boxes keep their things is taken away, and all boxes there are; then it is back."""
    server = serve("--workers", "1", "--sandbox", "portable")
    assert server.client.get("/readyz").status_code == 200
    away = server.scratch.with_name("away")
    server.scratch.rename(away)
    for pid in processes_below(server.pid):
        os.kill(pid, signal.SIGKILL)  # started by the server that this test started
    statuses = {server.execute(f"print({number})").status_code for number in range(6)}
    if statuses != {503}:
        pytest.skip("this sandbox does without the folder")
    unready = server.client.get("/readyz")
    assert (unready.status_code, unready.json()["code"]) == (503, "sandbox")
    assert server.client.get("/healthz").status_code == 200
    away.rename(server.scratch)
    server.wait_for(lambda: server.client.get("/readyz").status_code == 200)
    assert server.execute("print(1)").json()["stdout"] == "1\n"
    shutil.rmtree(away, ignore_errors=True)
