"""`proctor selftest`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Proctor = Callable[..., Any]
RIGHT = "def double(x):\n    return 2 * x\n"


@pytest.fixture(autouse=True)
def small_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "corpus" / "python"
    for name, text in {
        "passed/right": "# kinds: plain stdin\n"
        + RIGHT
        + "if __name__ == '__main__':\n    print(double(int(input())))\n",
        "passed/walled": "# class: network\n# tiers: kernel\n" + RIGHT,
        "wrong_answer/none": "# kinds: plain\n# class: cheats\ndef double(x):\n    pass\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr("proctor.checks.hostile_corpus.corpus_folder", lambda: folder.parent)
    return folder


def test_all_land(proctor: Proctor) -> None:
    ran = proctor("selftest", "--sandbox", "portable", "--workers", 2)
    assert ran.status == 0
    assert (
        "  ok   right                                      passed          plain stdin\n" in ran.out
    )
    assert "sandbox: portable (NOT ISOLATED)\n" in ran.out
    assert "  ok   passing without solving               1 of 1\n" in ran.out
    assert "  1 programs were not run: they need walls that this tier does not have\n" in ran.out
    assert "NOT ISOLATED" in ran.err


def test_one_that_does_not(proctor: Proctor, small_corpus: Path) -> None:
    (small_corpus / "wrong_answer" / "oops.py").write_text("# kinds: plain\n" + RIGHT)
    ran = proctor("selftest", "--sandbox", "portable", "--quick")
    assert ran.status == 1
    assert (
        "  FAIL oops                                       wrong_answer, got passed plain"
        in ran.out
    )
    assert "  FAIL honest mistakes                       0 of 1\n" in ran.out


def test_as_json(proctor: Proctor) -> None:
    ran = proctor("selftest", "--sandbox", "portable", "--class", "cheats", "--json")
    found = json.loads(ran.out)
    assert (found["sandbox"], found["isolated"], found["ok"], found["left"]) == (
        "portable",
        False,
        True,
        [],
    )
    assert [landing["program"] for landing in found["landings"]] == ["python/wrong_answer/none"]


def test_classes_nobody_knows(proctor: Proctor) -> None:
    ran = proctor("selftest", "--class", "fishing")
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint.startswith("--class fishing: known are reading, ")


def test_no_sandbox(proctor: Proctor) -> None:
    assert proctor("selftest", "--sandbox", "portable", "--python", "/no/python").status == 2
