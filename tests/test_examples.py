"""The examples, run as their first lines say; in a trainer where it is installed."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from proctor.integrations.trainers import verifiers_reward
from tests.requires import requires

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str, *args: str) -> str:
    """Run an example and return what it prints."""
    command = [sys.executable, str(EXAMPLES / name), *args]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def load(name: str) -> ModuleType:
    """Import an example, which does nothing by itself and needs no trainer."""
    spec = importlib.util.spec_from_file_location(Path(name).stem, EXAMPLES / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_every_example_says_how_to_run_it_and_is_run_here(path: Path) -> None:
    assert f"python examples/{path.name}" in path.read_text()
    assert path.name in Path(__file__).read_text()


def test_asyncio() -> None:
    assert run("asyncio_grading.py") == (
        "0 pass 1.0\n1 pass 1.0\n2 assertion_fail 0.0\n3 assertion_fail 0.5\n"
    )


def test_code_eval() -> None:
    lines = run("code_eval_metric.py").splitlines()
    assert lines[0] == "{'pass@1': 0.5, 'pass@2': 1.0}"
    assert [line.split(":")[0] for line in lines[1:]] == [
        "0 0 failed",
        "0 1 passed",
        "1 0 passed",
        "1 1 failed",
    ]


def test_verl_calls_it_so() -> None:
    assert run("verl_reward.py") == "score 1.0\nscore 1.0\nscore 0.0\n"


@pytest.mark.skipif(not installed("verl"), reason="verl is not installed")
def test_verl_finds_it() -> None:
    """verl's own loader and reward manager, with the flags that the example shows."""
    import asyncio

    import numpy as np
    import torch
    from omegaconf import OmegaConf
    from verl import DataProto
    from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
    from verl.trainer.ppo.reward import get_custom_reward_fn

    example = load("verl_reward.py")
    flags = re.findall(r"(reward\.custom_\S+=\S+)", example.__doc__ or "")
    config = OmegaConf.from_dotlist(flags)
    assert config.reward.custom_reward_function.name == "verl_score"

    class Letters:
        def decode(self, ids: Any, **_: Any) -> str:
            return "".join(map(chr, ids.tolist()))

    async def scores() -> list[float]:
        manager = NaiveRewardManager(config, Letters(), get_custom_reward_fn(config))
        results = []
        for row, response in zip(example.ROWS, example.RESPONSES, strict=True):
            ids = torch.tensor([list(map(ord, response))])
            data = DataProto.from_dict(
                tensors={"responses": ids, "attention_mask": torch.ones_like(ids)},
                non_tensors={
                    name: np.array([row[name]], dtype=object)
                    for name in ("data_source", "reward_model", "extra_info")
                },
            )
            results.append((await manager.run_single(data))["reward_score"])
        return results

    assert asyncio.run(scores()) == [1.0, 1.0, 0.0]


def test_trl_calls_it_so() -> None:
    """One step of a batch, as GRPOTrainer calls its reward functions."""
    example = load("trl_grpo.py")
    inputs = [row for row in example.ROWS for _ in example.LINES]
    completions = example.LINES * len(example.ROWS)
    rewards = example.REWARD(
        prompts=[row["prompt"] for row in inputs],
        completions=completions,
        completion_ids=[[1]] * len(inputs),
        assertions=[row["assertions"] for row in inputs],
        trainer_state=SimpleNamespace(),
        log_extra=lambda column, values: None,
        log_metric=lambda name, value: None,
    )
    assert rewards == [1.0, 0, 0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0]


@pytest.mark.slow
@pytest.mark.skipif(not installed("trl"), reason="trl is not installed")
def test_trl_trains() -> None:
    """It learns which line answers which prompt, from nothing but our rewards."""
    rewards = [float(reward) for reward in re.findall(r"reward ([\d.]+)", run("trl_grpo.py", "30"))]
    assert len(rewards) == 30
    assert sum(rewards[-5:]) / 5 > 0.9 > rewards[0]


def test_verifiers_calls_it_so() -> None:
    import asyncio

    example = load("verifiers_task.py")
    task = SimpleNamespace(**example.ROW, model_dump=lambda: example.ROW)
    trace = SimpleNamespace(last_reply=example.REPLY)
    assert f"{verifiers_reward.__module__}:{verifiers_reward.__name__}" == example.REWARD
    assert asyncio.run(verifiers_reward(task=task, trace=trace)) == 0.5


@pytest.mark.skipif(not installed("verifiers"), reason="verifiers is not installed")
def test_verifiers_scores() -> None:
    assert run("verifiers_task.py") == "reward 0.5\n"


@pytest.mark.slow
@pytest.mark.requires("inspect")
def test_inspect_runs_it(kernel: Any) -> None:
    assert run("inspect_task.py") == "success: accuracy 1.0\n"


@pytest.fixture(scope="module")
def perl_package(kernel: Any) -> Iterator[Path]:
    """Install the package of the example into a fresh environment, without a network.

    What it needs, Proctor and pytest and what builds packages, it finds where these tests do. Its
    folder can be read by everybody, as candidates are nobody in particular.
    """
    requires("perl")
    with tempfile.TemporaryDirectory(prefix="proctor-perl-") as folder:
        Path(folder).chmod(0o755)
        yield install_into(Path(folder))


def install_into(place: Path) -> Path:
    """Return the interpreter of a fresh environment that has the package."""
    package = place / "proctor-perl"
    shutil.copytree(EXAMPLES / "proctor-perl", package)
    venv.create(place / "venv", symlinks=True)
    python = place / "venv" / "bin" / "python"
    ours = sysconfig.get_path("purelib")
    theirs = next((place / "venv" / "lib").glob("python*/site-packages"))
    (theirs / "ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    install = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", str(package)]
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", *install]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return python


def there(python: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run something in the fresh environment, in an empty folder that is its home."""
    home = python.parents[2] / "home"
    home.mkdir(exist_ok=True)
    environment = {**os.environ, "HOME": str(home)}
    command = [str(python), "-m", *args]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=home, env=environment
    )


def test_a_package_brings_a_language_and_a_benchmark(perl_package: Path) -> None:
    listed = there(perl_package, "proctor", "benchmarks", "perl-basics")
    assert listed.stdout.startswith("perl-basics "), listed.stderr
    ran = there(perl_package, "proctor", "run", "perl-basics", "--model", "reference", "--json")
    assert (ran.returncode, json.loads(ran.stdout)["passed"]) == (0, 6)
    ran = there(perl_package, "proctor", "run", "perl-basics", "--model", "wrong", "--json")
    assert (ran.returncode, json.loads(ran.stdout)["passed"]) == (0, 0)


@pytest.mark.slow
def test_the_package_tests_its_contract(perl_package: Path) -> None:
    tests = perl_package.parents[2] / "proctor-perl" / "tests"
    ran = there(perl_package, "pytest", "-p", "no:cacheprovider", "-q", str(tests))
    assert ran.returncode == 0, ran.stdout
    assert "18 passed" in ran.stdout
