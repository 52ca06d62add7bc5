"""The corpus as data: which programs there are, and what the first lines of one say."""

from pathlib import Path

import pytest

from proctor.checks.hostile_corpus import (
    CALLS,
    LIMITS,
    corpus_folder,
    corpus_programs,
    select_programs,
)
from proctor.errors import InputError
from proctor.judge.cpp.corpus_tests import CPP_KINDS
from proctor.languages import builtin_languages
from proctor.records.limits import MIB
from proctor.records.task import StdinCases
from proctor.records.task import TestProgram as InOneFile

RIGHT = "def double(x):\n    return 2 * x\n"


def corpus(folder: Path, **programs: str) -> Path:
    for name, text in programs.items():
        path = folder / "python" / f"{name.replace('__', '/').replace('_part_', '.')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_a_program_without_a_head(tmp_path: Path) -> None:
    found = corpus_programs(corpus(tmp_path, passed__a=RIGHT, wrong_answer__b=RIGHT))
    assert [trial.kind for trial in found[:4]] == list(CALLS)
    assert (found[0].name, found[0].bucket, found[0].topic) == (
        "python/passed/a",
        "passed",
        "honest",
    )
    assert found[0].fits("portable")
    assert found[-1].topic == "mistakes"
    assert found[0].limits == LIMITS


def test_what_a_head_may_say(tmp_path: Path) -> None:
    head = (
        "# kinds: stdin unittest\n# class: reading\n# tiers: kernel docker\n"
        "# seconds: 0.5\n# memory: 64\n# denylist\n"
    )
    first, second = corpus_programs(corpus(tmp_path, passed__a=head + RIGHT))
    assert (first.kind, second.kind) == ("stdin", "unittest")
    assert first.topic == "reading"
    assert first.fits("docker")
    assert not first.fits("portable")
    assert (first.limits.wall_seconds, first.limits.memory_bytes) == (0.5, 64 * MIB)
    assert first.denylist


def test_in_other_ways_a_program_may_land_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "cpp" / "wrong_answer"
    folder.mkdir(parents=True)
    head = "// kinds: apart together text\n// text: passed\n"
    (folder / "lies.cpp").write_text(head + "vector<int> doubled(vector<int> xs) { return xs; }\n")
    found = {trial.kind: trial for trial in corpus_programs(tmp_path)}
    assert [found[way].bucket for way in CPP_KINDS] == ["wrong_answer", "wrong_answer", "passed"]
    tasks = [found[way].task() for way in CPP_KINDS]
    assert {task.entry_point for task in tasks} == {"doubled"}
    assert all(isinstance(task.tests, InOneFile) for task in tasks)
    assert len({task.sha256 for task in tasks}) == len(CPP_KINDS)


def test_parts_are_one_trial(tmp_path: Path) -> None:
    found = corpus_programs(
        corpus(tmp_path, passed__a_part_1=RIGHT, passed__a_part_2=RIGHT + "#", passed__b=RIGHT)
    )
    assert [trial.name for trial in found] == ["python/passed/a"] * 4 + ["python/passed/b"] * 4
    assert found[0].sources == [RIGHT, RIGHT + "#"]


def test_one_trial_a_program_and_some_classes() -> None:
    everything, quick = select_programs("", quick=False), select_programs("", quick=True)
    assert {trial.name for trial in everything} == {trial.name for trial in quick}
    assert len(quick) == len({trial.name for trial in quick}) < len(everything)
    assert {trial.topic for trial in select_programs("network, reading", quick=True)} == {
        "network",
        "reading",
    }
    with pytest.raises(InputError, match="--class fishing: known are reading, "):
        select_programs("fishing", quick=True)


def test_some_languages() -> None:
    found = select_programs("", "go, rust", quick=True)
    assert {trial.language for trial in found} == {"go", "rust"}
    with pytest.raises(InputError, match="--language cobol: known are python, bash, "):
        select_programs("", "cobol", quick=True)


def test_programs_of_other_languages(tmp_path: Path) -> None:
    (tmp_path / "go" / "early_exit").mkdir(parents=True)
    program = tmp_path / "go" / "early_exit" / "leaves.go"
    program.write_text("// kinds: stdin program\n// class: forging\n// memory: 64\npackage main\n")
    first, second = corpus_programs(tmp_path)
    assert (first.name, first.language, first.topic) == ("go/early_exit/leaves", "go", "forging")
    assert first.limits.memory_bytes == 64 * MIB
    assert isinstance(first.task().tests, StdinCases)
    assert isinstance(second.task().tests, InOneFile)
    assert second.task().language == "go"


@pytest.mark.parametrize("language", builtin_languages())
def test_every_language_has_its_hostile_programs(language: str) -> None:
    folder = corpus_folder() / language
    found = {path.name for path in folder.iterdir()}
    assert {"passed", "wrong_answer", "cpu_time", "wall_time", "output_overflow"} <= found
    topics = {
        trial.topic for trial in corpus_programs(corpus_folder()) if trial.language == language
    }
    assert {"reading", "persistence", "network", "resources", "honest"} <= topics
