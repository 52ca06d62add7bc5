"""Several benchmarks by one name or by a list."""

from pathlib import Path

import pytest

from proctor.benchmarks.suites import SUITES, members
from proctor.errors import InputError


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("humaneval", ["humaneval"]),
        ("some/tasks.jsonl", ["some/tasks.jsonl"]),
        ("humaneval,mbpp", ["humaneval", "mbpp"]),
        (" humaneval , mbpp+ ", ["humaneval", "mbpp+"]),
        ("standard", ["humaneval", "mbpp", "bigcodebench-hard"]),
        ("humaneval+,standard", ["humaneval+", "humaneval", "mbpp", "bigcodebench-hard"]),
    ],
)
def test_what_a_text_means(text: str, names: list[str]) -> None:
    assert members(text) == names


def test_a_file_may_have_a_comma_in_its_name(alone: Path) -> None:
    Path("a,b.jsonl").touch()
    assert members("a,b.jsonl") == ["a,b.jsonl"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("humaneval,", "humaneval,: a name is missing; write it as humaneval,mbpp"),
        (",", ",: a name is missing; write it as humaneval,mbpp"),
        ("mbpp,mbpp", "mbpp,mbpp: mbpp is in it twice"),
        ("standard,mbpp", "standard,mbpp: mbpp is in it twice"),
        ("a," + "x" * 5000, "cannot read 'a,"),
    ],
)
def test_what_means_nothing(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        members(text)
    assert str(caught.value).startswith(said)


def test_no_suite_has_the_name_of_a_benchmark() -> None:
    from proctor.benchmarks import TABLE

    assert not set(SUITES) & set(TABLE)
