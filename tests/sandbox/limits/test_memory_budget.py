"""How many workers fit into memory."""

from pathlib import Path

import pytest

from proctor.sandbox.limits import memory_budget


def test_limits_of_all_workers_fit_into_the_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_budget, "host_memory", lambda: 10 << 30)
    assert memory_budget.admit_workers(1 << 30) == 8
    assert memory_budget.admit_workers(8 << 30) == 1
    assert memory_budget.admit_workers(9 << 30) == 0


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"memory.max": "max\n"}, None),
        ({"memory.max": "1073741824\n"}, 1 << 30),
        ({"memory/memory.limit_in_bytes": "536870912\n"}, 1 << 29),
        ({"memory/memory.limit_in_bytes": f"{1 << 62}\n"}, None),
    ],
)
def test_a_container_has_what_it_was_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, files: dict[str, str], expected: int | None
) -> None:
    monkeypatch.setattr(memory_budget, "CGROUP", tmp_path / "nowhere")
    whole = memory_budget.host_memory()
    monkeypatch.setattr(memory_budget, "CGROUP", tmp_path)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert memory_budget.host_memory() == (expected or whole)
