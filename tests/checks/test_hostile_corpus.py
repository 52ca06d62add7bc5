"""Every program of the corpus lands in the bucket that its folder is named after.

What a program is and what its first lines may say: `proctor/selftest.py`, which runs the same
corpus as a command. A new attack is a new file and no new test code.
"""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import proctor
from proctor.checks.hostile_corpus import (
    CLASSES,
    KINDS,
    WAYS,
    CorpusProgram,
    corpus_folder,
    corpus_programs,
)
from proctor.checks.selftest import run_program
from proctor.errors import SandboxError
from proctor.records.verdict import Bucket
from proctor.sandbox import Sandbox

EVERY = corpus_programs(corpus_folder())
TRIALS = [trial for trial in EVERY if trial.language == "python"]
LONG = ("go", "java", "rust", "typescript")
FOREIGN = [
    pytest.param(t, marks=pytest.mark.slow)
    if t.topic == "resources" or (t.language in LONG and t.topic != "forging")
    else t
    for t in EVERY
    if t.language != "python" and t.kind not in WAYS
]
"""Time and memory are used up by Python alone, and compilers that take long run what forges alone;
`make test-all` runs the rest."""
FIRST = list({trial.name: trial for trial in reversed(TRIALS)}.values())[::-1]
"""Every program under one kind of tests."""
BEST, OTHERS = ["kernel"], ["docker", "contained", "wasm", "portable"]
ATTACKS = [t for t in FIRST if t.topic in ("reading", "processes", "persistence", "forging")]
"""What is run every time in tiers below the best one."""
USER = 4242


def shown(value: object) -> str:
    return f"{value.name}-{value.kind}" if isinstance(value, CorpusProgram) else str(value)


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("sandbox", BEST, indirect=True)
@pytest.mark.parametrize("trial", FIRST, ids=shown)
def test_lands_in_its_bucket(sandbox: Sandbox, trial: CorpusProgram) -> None:
    land(sandbox, trial)


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("sandbox", BEST, indirect=True)
@pytest.mark.parametrize("trial", [t for t in TRIALS if t not in FIRST], ids=shown)
def test_lands_in_its_bucket_under_other_tests(sandbox: Sandbox, trial: CorpusProgram) -> None:
    land(sandbox, trial)


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("sandbox", ["contained", "wasm"], indirect=True)
@pytest.mark.parametrize("trial", ATTACKS, ids=shown)
def test_attacks_land_in_their_buckets(sandbox: Sandbox, trial: CorpusProgram) -> None:
    land(sandbox, trial)


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("sandbox", OTHERS, indirect=True)
@pytest.mark.parametrize("trial", TRIALS, ids=shown)
def test_lands_in_its_bucket_in_other_tiers(sandbox: Sandbox, trial: CorpusProgram) -> None:
    land(sandbox, trial)


@pytest.fixture
def offered(kernel: Sandbox, request: pytest.FixtureRequest) -> None:
    """Have boxes of the trial's language, which stay, before anybody counts what is left."""
    try:
        kernel.offer(request.getfixturevalue("trial").language)
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("offered", "nothing_left")
@pytest.mark.parametrize("trial", FOREIGN, ids=shown)
def test_lands_in_its_bucket_in_other_languages(kernel: Sandbox, trial: CorpusProgram) -> None:
    land(kernel, trial)


def land(sandbox: Sandbox, trial: CorpusProgram) -> None:
    if not trial.fits(sandbox.enforcement().tier):
        pytest.skip(f"only for {', '.join(trial.tiers)}")
    landing = run_program(sandbox, trial)
    assert landing.ok, landing


def test_the_corpus_is_where_it_should_be() -> None:
    folders = {path.name for path in corpus_folder().glob("*/*")}
    assert folders <= set(Bucket), "a folder is named after a bucket"
    assert {"passed", "wrong_answer", "tampering", "early_exit", "cpu_time"} <= folders
    assert {trial.topic for trial in TRIALS} == set(CLASSES)
    assert {trial.kind for trial in EVERY} == {*KINDS, *WAYS, "program"}


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


def test_it_is_the_same_for_an_ordinary_user(their_python: str) -> None:
    classes = "reading,processes,persistence,network,forging"
    selftest_as_somebody_else(their_python, "--quick", "--class", classes)


@pytest.mark.slow
def test_all_of_it_is_the_same_for_an_ordinary_user(their_python: str) -> None:
    selftest_as_somebody_else(their_python, "--workers", "2")
