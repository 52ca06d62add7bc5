"""Every program of the corpus lands in the bucket that its folder is named after.

`proctor/checks/hostile_corpus.py` explains what the first lines of a program may say, and
`proctor selftest` runs the same corpus. A new attack is a new file and no new test code.
"""

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.checks.hostile_corpus import (
    CLASSES,
    KINDS,
    CorpusProgram,
    corpus_folder,
    corpus_programs,
)
from proctor.checks.selftest import run_program
from proctor.judge.cpp.corpus_tests import CPP_KINDS
from proctor.records.verdict import Bucket
from proctor.sandbox import Sandbox
from tests.requires import requires_language

EVERY = corpus_programs(corpus_folder())
FIRST_KIND = {trial.name: trial.kind for trial in reversed(EVERY)}
TIERS = ("kernel", "docker", "contained", "wasm", "portable")


def cases() -> Iterator[Any]:
    """Yield every trial with each tier that it fits.

    Every run has one kind of tests per program in Python, on the kernel tier, and one kind per
    forgery in all tiers and languages. The rest is slow.
    """
    for trial in EVERY:
        if trial.kind in CPP_KINDS:
            continue  # in test_hostile_corpus_cpp.py
        python = trial.language == "python"
        for tier in filter(trial.fits, TIERS if python else ("kernel",)):
            usual = trial.topic == "forging" or (python and tier == "kernel")
            in_every_run = usual and trial.kind == FIRST_KIND[trial.name]
            marks = () if in_every_run else pytest.mark.slow
            yield pytest.param(tier, trial, marks=marks, id=f"{tier}-{trial.name}-{trial.kind}")


USER = 4242


@pytest.fixture
def offered(sandbox: Sandbox, trial: CorpusProgram) -> None:
    """Have boxes of the trial's language, which stay, before anybody counts what is left."""
    requires_language(sandbox, trial.language)


@pytest.mark.usefixtures("offered", "nothing_left")
@pytest.mark.parametrize(("sandbox", "trial"), list(cases()), indirect=["sandbox"])
def test_lands_in_its_bucket(sandbox: Sandbox, trial: CorpusProgram) -> None:
    landing = run_program(sandbox, trial)
    assert landing.ok, landing


def test_the_corpus_is_where_it_should_be() -> None:
    folders = {path.name for path in corpus_folder().glob("*/*")}
    assert folders <= set(Bucket), "a folder is named after a bucket"
    assert {"passed", "wrong_answer", "tampering", "early_exit", "cpu_time"} <= folders
    assert {trial.topic for trial in EVERY} == set(CLASSES)
    assert {trial.kind for trial in EVERY} == {*KINDS, *CPP_KINDS, "program"}


def test_what_needs_walls_says_so() -> None:
    for trial in EVERY:
        if trial.topic in ("processes", "persistence", "network"):
            harmless = trial.bucket is Bucket.CRASH or "daemon" in trial.name
            assert harmless or not trial.fits("portable"), trial.name


def as_somebody_else(*command: str) -> "subprocess.CompletedProcess[str]":
    """Run Python as an ordinary user who sees nothing of ours but the product."""
    paths = [Path(proctor.__file__).parent.parent, *map(sysconfig.get_path, ("purelib", "platlib"))]
    return subprocess.run(
        command,
        user=USER,
        group=USER,
        extra_groups=[],
        cwd="/",
        env={"PYTHONPATH": ":".join(map(str, paths)), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def their_python() -> str:
    """Return an interpreter that an ordinary user may run."""
    if os.geteuid() != 0:
        pytest.skip("the whole suite is run by an ordinary user")
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            if (
                as_somebody_else(python, "-c", "import proctor.checks.selftest, typer").returncode
                == 0
            ):
                return python
        except PermissionError:
            pass  # it lies in a folder of root's own
    pytest.skip("no interpreter here can be run by an ordinary user")


def selftest_as_somebody_else(python: str, *flags: str) -> None:
    command = (python, "-m", "proctor", "selftest", "--sandbox", "kernel", "--json")
    done = as_somebody_else(*command, *flags)
    assert done.stdout, done.stderr
    findings = json.loads(done.stdout)
    assert not [landing for landing in findings["landings"] if not landing["ok"]]
    assert len(findings["landings"]) > 20
    assert findings["left"] == []
    assert done.returncode == 0


@pytest.mark.slow
def test_it_is_the_same_for_an_ordinary_user(their_python: str) -> None:
    classes = "reading,processes,persistence,network,forging"
    selftest_as_somebody_else(their_python, "--quick", "--class", classes)


@pytest.mark.slow
def test_all_of_it_is_the_same_for_an_ordinary_user(their_python: str) -> None:
    selftest_as_somebody_else(their_python, "--workers", "2")
