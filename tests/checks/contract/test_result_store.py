"""Results are kept by what they speak of, and a file that cannot be read proves nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.benchmarks import load
from proctor.benchmarks.source import Declaration
from proctor.checks.contract.result import Finding, Result, Status, reason_of
from proctor.checks.contract.result_store import (
    folder,
    latest_result,
    latest_result_of_files,
    store_result,
)
from proctor.grading.receipts import software_versions
from proctor.records.execution import Enforcement
from proctor.records.task import Benchmark
from proctor.storage.jsonl import file_sha256


@pytest.fixture
def result(alone: Path) -> Callable[..., Result]:
    """Return a function that makes results of the benchmark in `demo.jsonl`."""
    import socket

    (alone / "demo.jsonl").write_text(
        '{"task_id": "a", "tests": {"kind": "assertions", "targets": ["f(1) == 2"]}}\n'
    )
    one = Result(
        benchmark="demo",
        benchmark_sha256=load("demo.jsonl").sha256,
        files={"demo.jsonl": file_sha256(Path("demo.jsonl"))},
        tasks=1,
        of=1,
        holds=True,
        partial=False,
        in_rotation=True,
        reason="",
        findings=[],
        declares=Declaration(),
        created="2026-01-01T00:00:00+00:00",
        host=socket.gethostname(),
        enforcement=Enforcement(
            tier="portable", isolated=False, walls={}, clock="wall", toolchains={}, packages=[]
        ),
        versions=software_versions(),
        seconds=1.0,
    )
    return lambda **changes: msgspec.structs.replace(one, **changes)


def demo() -> Benchmark:
    return load("demo.jsonl")


def of_files() -> Result | None:
    return latest_result_of_files("demo", lambda: [Path("demo.jsonl")])


def test_what_is_kept_is_found_again(result: Callable[..., Result]) -> None:
    assert latest_result(demo()) is None
    assert of_files() is None
    path = store_result(result())
    assert path is not None
    assert folder() in path.parents
    assert latest_result(demo()) == of_files() == result()


def test_a_result_speaks_for_no_other_tasks(result: Callable[..., Result]) -> None:
    store_result(result())
    text = Path("demo.jsonl").read_text()
    Path("demo.jsonl").write_text(text.replace("f(1)", "f(3)"))
    assert latest_result(demo()) is None
    assert of_files() is None
    Path("demo.jsonl").write_text(text)
    assert latest_result(demo()) == result()


def test_a_result_speaks_for_no_other_proctor_or_host(
    result: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    store_result(result())
    monkeypatch.setattr("proctor.checks.contract.result_store._here", lambda: ("elsewhere", "9.9"))
    assert latest_result(demo()) is None
    assert of_files() is None


@pytest.mark.parametrize(
    "content", ["", "{}", "[", "\x00", '{"schema": 2}', "[" * 100_000], ids=range(6)
)
def test_a_file_that_cannot_be_read_proves_nothing(
    content: str, result: Callable[..., Result]
) -> None:
    path = store_result(result())
    assert path is not None
    path.write_text(content)
    assert latest_result(demo()) is None
    assert of_files() is None


def test_a_result_under_the_name_of_another_is_not_believed(result: Callable[..., Result]) -> None:
    path = store_result(result())
    assert path is not None
    other = msgspec.json.decode(path.read_bytes())
    path.write_bytes(msgspec.json.encode({**other, "benchmark_sha256": "00"}))
    assert latest_result(demo()) is None


def test_the_newest_is_taken(result: Callable[..., Result]) -> None:
    store_result(result(benchmark_sha256="00", created="2026-01-02T00:00:00+00:00"))
    store_result(result())
    found = of_files()
    assert found is not None
    assert found.created == "2026-01-02T00:00:00+00:00"


@pytest.mark.parametrize(
    "name", ["../../up", "/etc/x", "..", "", "a/b", "x" * 300, "naïve\n"], ids=range(7)
)
def test_no_name_leads_out_of_the_folder(name: str, result: Callable[..., Result]) -> None:
    path = store_result(result(benchmark=name))
    root = folder()
    assert path is not None
    assert root is not None
    assert path.resolve().parents[1] == root.resolve()


def test_one_that_could_not_be_read_is_kept_by_its_files(result: Callable[..., Result]) -> None:
    store_result(result(benchmark_sha256=None, holds=False, in_rotation=False, reason="schema: …"))
    found = of_files()
    assert found is not None
    assert not found.in_rotation


def finding(line: str, word: Status) -> Finding:
    return Finding(line=line, says="", word=word, evidence="it is so")


@pytest.mark.parametrize(
    ("words", "partial", "reason"),
    [
        ([Status.HELD, Status.WARNING, Status.DOES_NOT_APPLY], False, ""),
        ([Status.HELD], True, "partial, not enough for rotation"),
        ([Status.HELD, Status.UNKNOWN], False, "1: it is so"),
        ([Status.BROKEN, Status.HELD, Status.UNKNOWN], True, "0: it is so, and 1 more lines"),
    ],
)
def test_why_it_is_not_in_rotation(words: list[Status], partial: Any, reason: str) -> None:
    findings = [finding(str(number), word) for number, word in enumerate(words)]
    assert reason_of(findings, partial=partial) == reason
