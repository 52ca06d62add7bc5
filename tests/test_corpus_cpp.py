"""Every C++ program that answers with a function, judged in every way that there is.

A program is judged apart from the tests, in one process with them as a shared object of its own,
and in one text with them. What its first lines may say: `proctor/trials.py`. Compilers have less
time and memory here than elsewhere, so that bombs cost little.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from proctor.errors import SandboxError
from proctor.sandbox import MIB, Sandbox, foreign
from proctor.sandbox.choose import open_sandbox
from proctor.selftest import run_trial, traces
from proctor.trials import WAYS, corpus_folder, trials
from proctor.verdict import Bucket

TRIALS = [trial for trial in trials(corpus_folder()) if trial.kind in WAYS]
COMPILING = msgspec.structs.replace(
    foreign.COMPILING, cpu_seconds=3.0, wall_seconds=3.0, memory_bytes=1024 * MIB
)


@pytest.fixture(scope="module")
def strict() -> Iterator[Sandbox]:
    """Open a sandbox whose compilers have little time and memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(foreign, "COMPILING", COMPILING)
        patch.setattr(foreign.Foreign.build, "__defaults__", (COMPILING,))
        try:
            opened = open_sandbox("kernel", sys.executable)
            opened.offer("cpp")
        except SandboxError as error:
            pytest.skip(str(error))
        yield opened
        opened.close()


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: f"{trial.name}-{trial.kind}")
def test_it_lands_where_it_should(strict, trial):
    landing = run_trial(strict, trial)
    assert landing.ok, landing


def test_no_forgery_passes_apart():
    honest = {trial.name for trial in TRIALS if "/passed/" in trial.name}
    apart = {trial.name for trial in TRIALS if trial.kind == "apart" and trial.bucket == "passed"}
    assert apart == honest
    assert {trial.name for trial in TRIALS} == {t.name for t in TRIALS if t.kind == "apart"}


def test_all_that_can_pass_in_one_process_is_listed():
    security = (Path(__file__).parent.parent / "SECURITY.md").read_text()
    passing = {t.name for t in TRIALS if t.bucket is Bucket.PASSED and "/passed/" not in t.name}
    assert passing
    assert [name for name in passing if f"`{Path(name).name}`" not in security] == []


def test_nothing_is_left(strict):
    assert not traces()
