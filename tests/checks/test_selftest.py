"""What comes of a run of the corpus."""

import sys
from pathlib import Path

import pytest

from proctor.checks.hostile_corpus import corpus_programs
from proctor.checks.selftest import MARK, PLACES, run_all, run_program, traces
from proctor.records.verdict import Bucket
from proctor.sandbox import Sandbox
from proctor.sandbox.tiers.select import open_sandbox

RIGHT = "def double(x):\n    return 2 * x\n"


def corpus(folder: Path, **programs: str) -> Path:
    for name, text in programs.items():
        path = folder / "python" / f"{name.replace('__', '/').replace('_part_', '.')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_a_stray_is_told(tmp_path: Path, sandbox: Sandbox) -> None:
    folder = corpus(
        tmp_path,
        wrong_answer__a_part_1="# kinds: plain\ndef double(x):\n    pass\n",
        wrong_answer__a_part_2=RIGHT,
    )
    landing = run_program(sandbox, corpus_programs(folder)[0])
    assert (landing.ok, landing.expected, landing.got) == (
        False,
        Bucket.WRONG_ANSWER,
        Bucket.PASSED,
    )


def test_what_is_left_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert traces() == []
    monkeypatch.setattr("proctor.checks.selftest.PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("proctor.checks.selftest.PLACES", (*PLACES, str(tmp_path)))
    (tmp_path / f"x{MARK}").touch()
    assert traces() == [str(tmp_path / f"x{MARK}")]


def test_all_of_them(tmp_path: Path, sandbox: Sandbox) -> None:
    class Lent:
        """A sandbox that is not ours to close."""

        def __getattr__(self, name: str) -> object:
            return getattr(sandbox, name)

        def close(self) -> None:
            pass

    folder = corpus(
        tmp_path,
        passed__a="# kinds: plain\n" + RIGHT,
        passed__b="# kinds: plain\n# tiers: moon\n" + RIGHT,
        wrong_answer__c="# kinds: plain\n" + RIGHT,
    )
    seen: list[int] = []
    found = run_all(Lent, corpus_programs(folder), workers=2, watch=lambda: seen.append(1))  # type: ignore[arg-type]
    assert [landing.program for landing in found.landings] == [
        "python/passed/a",
        "python/wrong_answer/c",
    ]
    assert [landing.ok for landing in found.landings] == [True, False]
    assert not found.ok
    assert found.skipped == ["python/passed/b"]
    assert len(seen) == 2


def test_program_whose_package_is_not_installed_is_not_run(tmp_path: Path) -> None:
    folder = corpus(tmp_path, passed__a="# kinds: plain\n# packages: nowhere\nimport nowhere\n")
    found = run_all(
        lambda: open_sandbox("portable", sys.executable), corpus_programs(folder), workers=1
    )
    assert (found.ok, list(found.landings)) == (True, [])
    assert found.missing == {
        "nowhere": "nowhere is not installed for the Python that runs candidates"
    }


def test_languages_that_are_not_here_are_told(tmp_path: Path) -> None:
    folder = corpus(tmp_path, passed__a="# kinds: plain\n" + RIGHT)
    (folder / "go" / "passed").mkdir(parents=True)
    (folder / "go" / "passed" / "a.go").write_text("package main\n")
    found = run_all(
        lambda: open_sandbox("portable", sys.executable), corpus_programs(folder), workers=1
    )
    assert [landing.program for landing in found.landings] == ["python/passed/a"]
    assert list(found.missing) == ["go"]
    assert "portable tier" in found.missing["go"]
    assert (found.ok, found.skipped) == (True, [])
