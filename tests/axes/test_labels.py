"""The axes against answers whose findings are known, one library after the other."""

import json
import shutil

import pytest

from proctor.axes.finding import Kind, SampleStatus
from proctor.axes.labels import compare, read_labels
from proctor.benchmarks import load
from proctor.errors import InputError
from proctor.extraction.assemble import verbatim
from proctor.judge.judge import Judge
from tests.axes.conftest import LIBRARIES, SUITE, suite

ALL = read_labels([SUITE / library for library in LIBRARIES])


@pytest.mark.parametrize(
    "library", [LIBRARIES[0], *(pytest.param(one, marks=pytest.mark.slow) for one in LIBRARIES[1:])]
)
def test_every_label_is_found_and_nothing_else(parser, library):
    labels = read_labels([SUITE / library])
    worth = compare(parser, suite(library).__getitem__, labels)
    assert worth.misses == []
    assert worth.right == worth.answers == len(labels)
    assert worth.found == worth.labels


def test_a_label_that_is_wrong_is_a_miss(proctor, parser, tmp_path):
    task = (SUITE / "stock" / "tasks.toml").read_text().split("[[task]]")[:2]
    for name in ("include", "src", "tests"):
        shutil.copytree(SUITE / "stock" / name, tmp_path / name)
    (tmp_path / "tasks.toml").write_text("[[task]]".join(task))
    (tmp_path / "labels.toml").write_text(
        "[[completion]]\ntask = 'stock/add'\nname = 'n'\ncompiles = false\n"
        "findings = [['invented_member', 'stock::Item::x'], ['not_visible', 'y']]\n"
        "code = 'void Store::add(const Item& item) { item.x = 1; zap(); }'\n"
    )
    ran = proctor("axes", tmp_path, "--labelled", "--json")
    assert ran.status == 1, ran.err
    found = json.loads(ran.out)
    (miss,) = found["misses"]
    assert (miss["missed"], miss["extra"]) == ([["not_visible", "y"]], [["invented_symbol", "zap"]])
    assert found["labels"] == {"invented_member": 1, "not_visible": 1}
    assert found["found"] == {"invented_member": 1}


def test_there_is_an_answer_for_every_kind_and_for_most_statuses():
    assert {kind for label in ALL for kind, _ in label.findings} == set(Kind)
    assert {label.status for label in ALL} == {
        SampleStatus.OK,
        SampleStatus.SYNTAX_ERROR,
        SampleStatus.UNATTRIBUTED,
    }
    assert len(ALL) >= 50
    assert {label.task for label in ALL} <= set(load("cpp-context").ids)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("completion = 3", "labels.toml: field completion must be an array"),
        ("[[completion]]\ntask = 'a'", "labels.toml: field completion[0].name is missing"),
        ("[[completion", "labels.toml: not TOML"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path, text, said):
    (tmp_path / "labels.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_labels([tmp_path])
    assert said in str(caught.value)
    (tmp_path / "labels.toml").unlink()
    with pytest.raises(InputError):
        read_labels([tmp_path])


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_the_compiler_says_what_the_labels_say(kernel, parser, library):
    tasks, judge = suite(library), Judge(kernel)
    for label in read_labels([SUITE / library]):
        task = tasks[label.task]
        bucket = judge.judge(task, verbatim(task, label.code)).verdict.bucket
        assert (bucket != "compile") is label.compiles, label.name
