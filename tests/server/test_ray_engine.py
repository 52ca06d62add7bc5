"""The service with `--engine ray`, as a process of its own."""

from collections.abc import Callable
from typing import Any

import pytest

TASK = {
    "task_id": "double",
    "entry_point": "double",
    "tests": {"kind": "assertions", "targets": ["double(2) == 4"]},
}


@pytest.mark.slow
@pytest.mark.requires("ray")
def test_a_service_on_a_cluster(serve: Callable[..., Any]) -> None:
    running = serve("--engine", "ray", "--workers", "2", "--batch-size", "4")
    texts = [f"def double(x):\n    return {n % 2 + 1} * x\n" for n in range(20)]
    answer = running.client.post("/v1/grade", json={"task": TASK, "completions": texts}).json()
    outcomes = [receipt["outcome"] for receipt in answer["receipts"]]
    assert outcomes == ["assertion_fail", "pass"] * 10
    ran = running.execute("print(input())", stdin="hello\n").json()
    assert ran["stdout"] == "hello\n"
    assert running.client.get("/readyz").status_code == 200
    assert running.metrics()["proctor_workers"] == 2
    assert running.stop() == 0
    assert "Traceback" not in running.said_path.read_text()
