"""A policy: paths count from its file, and whatever makes no sense is one sentence."""

from pathlib import Path

import pytest

from proctor.checks.qa.policy import Demands, Policy, read_policy
from proctor.errors import InputError

SMOKE = '[[benchmark.demo.smoke]]\nname = "good"\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "qa.toml"
    path.write_text(text)
    return path


def test_paths_count_from_the_file(tmp_path: Path) -> None:
    text = f'[benchmark.demo]\nbaseline = "old"\n{SMOKE}run = "/good"\nlow = 0.9\nhigh = 1.0\n'
    demands = read_policy(write(tmp_path, text)).of("demo")
    assert demands.baseline == str(tmp_path / "old")
    assert demands.smoke[0].run == "/good"


def test_nothing_is_asked_of_what_is_not_named(tmp_path: Path) -> None:
    policy = read_policy(write(tmp_path, ""))
    assert policy == Policy()
    assert policy.of("demo") == Demands()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense = 1", "field nonsense is not known"),
        ("tier = 'cloud'", "field tier cannot be 'cloud'"),
        ("verify_share = 0", "field verify_share must be"),
        ("contract_days = 'long'", "field contract_days must be a number"),
        ("skip = ['complete']", "cannot be 'complete'"),
        ("[benchmark.demo.pass_at_k]\n1 = 2.0", "must be"),
        ("[benchmark.demo.pass_at_k]\nten = 0.5", "must"),
        (f"{SMOKE}low = 0.1\nhigh = 0.2", "field benchmark.demo.smoke, good: must have one of"),
        (f"{SMOKE}model = 'reference'\nrun = 'x'\nlow = 0\nhigh = 1", "must have one of"),
        (f"{SMOKE}model = 'reference'\nlow = 0.5\nhigh = 0.2", "good: low is above high"),
        (f"{SMOKE}run = 'x'\ntasks = 2\nlow = 0\nhigh = 1", "good: tasks is for a model"),
        ("= 3", "not TOML"),
    ],
)
def test_what_makes_no_sense(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as error:
        read_policy(path)
    assert str(error.value).startswith(f"{path}: ")
    assert said in str(error.value)
