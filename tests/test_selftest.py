"""The corpus as data: what the first lines of a program say, and what comes of a run."""

from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.sandbox import MIB, Sandbox
from proctor.selftest import (
    CALLS,
    LIMITS,
    MARK,
    PLACES,
    chosen_trials,
    run_all,
    run_trial,
    traces,
    trials,
)
from proctor.verdict import Bucket

RIGHT = "def double(x):\n    return 2 * x\n"


def corpus(folder: Path, **programs: str) -> Path:
    for name, text in programs.items():
        path = folder / f"{name.replace('__', '/').replace('_part_', '.')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


def test_a_program_without_a_head(tmp_path: Path) -> None:
    found = trials(corpus(tmp_path, passed__a=RIGHT, wrong_answer__b=RIGHT))
    assert [trial.kind for trial in found[:4]] == list(CALLS)
    assert (found[0].name, found[0].bucket, found[0].topic) == ("passed/a", "passed", "honest")
    assert found[0].fits("portable")
    assert found[-1].topic == "mistakes"
    assert found[0].limits == LIMITS


def test_what_a_head_may_say(tmp_path: Path) -> None:
    head = (
        "# kinds: stdin unittest\n# class: reading\n# tiers: kernel docker\n"
        "# seconds: 0.5\n# memory: 64\n# denylist\n"
    )
    first, second = trials(corpus(tmp_path, passed__a=head + RIGHT))
    assert (first.kind, second.kind) == ("stdin", "unittest")
    assert first.topic == "reading"
    assert first.fits("docker")
    assert not first.fits("portable")
    assert (first.limits.wall_seconds, first.limits.memory_bytes) == (0.5, 64 * MIB)
    assert first.denylist


def test_parts_are_one_trial(tmp_path: Path) -> None:
    found = trials(
        corpus(tmp_path, passed__a_part_1=RIGHT, passed__a_part_2=RIGHT + "#", passed__b=RIGHT)
    )
    assert [trial.name for trial in found] == ["passed/a"] * 4 + ["passed/b"] * 4
    assert found[0].sources == [RIGHT, RIGHT + "#"]


def test_one_trial_a_program_and_some_classes() -> None:
    everything, quick = chosen_trials("", quick=False), chosen_trials("", quick=True)
    assert {trial.name for trial in everything} == {trial.name for trial in quick}
    assert len(quick) == len({trial.name for trial in quick}) < len(everything)
    assert {trial.topic for trial in chosen_trials("network, reading", quick=True)} == {
        "network",
        "reading",
    }
    with pytest.raises(InputError, match="--class fishing: known are reading, "):
        chosen_trials("fishing", quick=True)


def test_a_stray_is_told(tmp_path: Path, sandbox: Sandbox) -> None:
    folder = corpus(
        tmp_path,
        wrong_answer__a_part_1="# kinds: plain\ndef double(x):\n    pass\n",
        wrong_answer__a_part_2=RIGHT,
    )
    landing = run_trial(sandbox, trials(folder)[0])
    assert (landing.ok, landing.expected, landing.got) == (
        False,
        Bucket.WRONG_ANSWER,
        Bucket.PASSED,
    )


def test_what_is_left_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert traces() == []
    monkeypatch.setattr("proctor.selftest.PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("proctor.selftest.PLACES", (*PLACES, str(tmp_path)))
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
    found = run_all(Lent, trials(folder), workers=2, watch=lambda: seen.append(1))  # type: ignore[arg-type]
    assert [landing.program for landing in found.landings] == ["passed/a", "wrong_answer/c"]
    assert [landing.ok for landing in found.landings] == [True, False]
    assert not found.ok
    assert found.skipped == ["passed/b"]
    assert len(seen) == 2
