"""Every C++ program that answers with a function, judged in every way that there is.

A program is judged apart from the tests, in one process with them as a shared object of its own,
and in one text with them. `checks/hostile_corpus.py` explains what its first lines may say. Compilers have less
time and memory here than elsewhere, so that bombs cost little.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from proctor.checks.hostile_corpus import corpus_folder, corpus_programs
from proctor.checks.selftest import run_program, traces
from proctor.errors import SandboxError
from proctor.judge.cpp.corpus_tests import CPP_KINDS
from proctor.judge.judge import Judge
from proctor.records.limits import MIB
from proctor.records.program import Program
from proctor.records.verdict import Bucket
from proctor.sandbox import Sandbox
from proctor.sandbox.tiers.select import open_sandbox
from proctor.sandbox.toolchains import runner
from tests.requires import requires_language

TRIALS = [trial for trial in corpus_programs(corpus_folder()) if trial.kind in CPP_KINDS]
COMPILING = msgspec.structs.replace(
    runner.COMPILING, cpu_seconds=3.0, wall_seconds=3.0, memory_bytes=768 * MIB
)


@pytest.fixture(scope="module")
def strict() -> Iterator[Sandbox]:
    """Open a sandbox whose compilers have little time and memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "COMPILING", COMPILING)
        patch.setattr(runner.ToolchainRunner.build, "__defaults__", (COMPILING,))
        try:
            opened = open_sandbox("kernel", sys.executable)
        except SandboxError as error:
            pytest.skip(str(error))
        requires_language(opened, "cpp")
        yield opened
        opened.close()


@pytest.mark.parametrize(
    "trial",
    [
        trial
        if trial.kind == "apart" or trial.bucket is Bucket.PASSED
        else pytest.param(trial, marks=pytest.mark.slow)
        for trial in TRIALS
    ],
    ids=lambda trial: f"{trial.name}-{trial.kind}",
)
def test_it_lands_where_it_should(strict, trial):
    landing = run_program(strict, trial)
    assert landing.ok, landing


def test_a_bomb_costs_its_own_limit_and_nothing_more(strict):
    """Beside it others compile and are judged as ever."""
    by_name = {trial.name: trial for trial in TRIALS if trial.kind == "apart"}
    bomb = by_name["cpp/compile_timeout/template_bomb"]
    judge = Judge(strict)
    with ThreadPoolExecutor(1) as beside:
        program = Program(source=f"{bomb.sources[0]}// another\n", language="cpp")
        blown = beside.submit(judge.judge, bomb.task(), program)
        for name in ("cpp/passed/plain_function", "cpp/compile/open_brace"):
            assert run_program(strict, by_name[name]).ok
        judgement = blown.result()
    assert judgement.verdict.bucket is Bucket.COMPILE_TIMEOUT
    assert judgement.findings.usage.cpu_seconds < 2 * COMPILING.cpu_seconds
    assert judgement.findings.usage.memory_bytes <= COMPILING.memory_bytes


def test_no_forgery_passes_apart():
    honest = {trial.name for trial in TRIALS if "/passed/" in trial.name}
    apart = {trial.name for trial in TRIALS if trial.kind == "apart" and trial.bucket == "passed"}
    assert apart == honest
    assert {trial.name for trial in TRIALS} == {t.name for t in TRIALS if t.kind == "apart"}


def test_all_that_can_pass_in_one_process_is_listed():
    security = (Path(__file__).parents[2] / "SECURITY.md").read_text()
    passing = {t.name for t in TRIALS if t.bucket is Bucket.PASSED and "/passed/" not in t.name}
    assert passing
    assert [name for name in passing if f"`{Path(name).name}`" not in security] == []


def test_nothing_is_left(strict):
    assert not traces()
