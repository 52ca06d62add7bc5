"""Folders that nothing else has, runs that arrive whole, and a last word that is said once."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from proctor.benchmarks import load
from proctor.errors import InputError
from proctor.storage.run_directory import COMPLETIONS, REPORT
from proctor.watch.checkpoints import Checkpoint
from proctor.watch.config import Config, Draws
from proctor.watch.job_state import (
    MODEL,
    RUN,
    Job,
    Standing,
    begin,
    begin_attempt,
    finish,
    job_of,
    known_jobs,
    place_of,
    publish,
)
from proctor.watch.leases import Leases, Why

Make = Callable[..., Path]


def point(path: str = "/a/step-1", fingerprint: str = "00") -> Checkpoint:
    return Checkpoint(path=path, fingerprint=fingerprint)


@pytest.fixture
def job(config: Callable[..., Config], tasks: Make) -> Job:
    """Return a job that was begun."""
    one = job_of(config(), point(), "demo.jsonl", load(str(tasks())))
    begin(one)
    return one


def test_folders_of_one_last_name_never_mix(alone: Path) -> None:
    same = [point("/a/step-1"), point("/b/step-1"), point("/a/step-1", "11"), point("/a/step_1")]
    folders = {place_of(alone, one) for one in same}
    assert len(folders) == len(same)
    assert all(folder.parent == alone for folder in folders)


@pytest.mark.parametrize("name", ["/a/..", "/a/.hidden", "/a/x y\n/z", "/" + "n" * 300])
def test_a_name_is_no_path(alone: Path, name: str) -> None:
    place = place_of(alone, point(name))
    assert place.parent == alone
    assert not place.name.startswith(".")
    place.mkdir()


def test_what_is_asked_in_another_way_is_another_job(
    config: Callable[..., Config], tasks: Make
) -> None:
    demo = load(str(tasks()))
    usual = config()
    others = [
        msgspec.structs.replace(usual, sampling=Draws(n_samples=2)),
        msgspec.structs.replace(usual, prompt_strategy="scot"),
        msgspec.structs.replace(usual, model="command:other {checkpoint}"),
    ]
    folders = {job_of(one, point(), "demo", demo).folder for one in (usual, *others)}
    folders.add(job_of(usual, point(), "demo", load(str(tasks(count=4)))).folder)
    assert len(folders) == 5
    elsewhere = msgspec.structs.replace(usual, workers=7, device="cuda:1", lease_seconds=9.0)
    assert job_of(elsewhere, point(), "demo", demo).folder in folders


def test_an_attempt_goes_on_with_the_answers_of_the_last(job: Job) -> None:
    first = begin_attempt(job, 1)
    for name in (COMPLETIONS, MODEL, "log.txt"):
        (first / name).write_text(name)
    (first / RUN).mkdir()
    begin_attempt(job, 2)
    third = begin_attempt(job, 3)
    assert sorted(path.name for path in third.iterdir()) == [COMPLETIONS, MODEL]
    (first / COMPLETIONS).write_text("he is not dead after all")
    assert (third / COMPLETIONS).read_text() == COMPLETIONS


def test_the_first_run_stays(job: Job, past_run: Make) -> None:
    for number, name in ((1, "first"), (2, "second")):
        attempt = begin_attempt(job, number)
        run = past_run(name, {"a": "P"})
        (run / REPORT).write_text("{}")
        run.rename(attempt / RUN)
        publish(job, attempt)
    assert '"model": "first"' in (job.folder / RUN / "manifest.json").read_text()
    said = finish(job, 2)
    assert (said.standing, said.passed, said.samples) == (Standing.DONE, 1, 1)
    assert not list(job.folder.glob("attempt.*"))


def test_a_run_that_is_not_complete_does_not_arrive(job: Job) -> None:
    with pytest.raises(InputError):
        publish(job, begin_attempt(job, 1))


def test_the_last_word_is_said_once(job: Job) -> None:
    first = finish(job, 3, failed="no luck")
    assert (first.standing, first.reason, first.run) == (Standing.FAILED, "no luck", None)
    assert finish(job, 9, late="too late") == first


def test_how_jobs_stand(job: Job, alone: Path) -> None:
    results = alone / "results"
    assert [one.standing for one in known_jobs(results)] == [Standing.WAITING]
    lease = Leases(100.0).take(job.folder)
    assert lease is not None
    [one] = known_jobs(results)
    assert (one.standing, one.reason, one.attempt) == (Standing.RUNNING, "asking", 1)
    lease.release(Why.FAILED, "no luck")
    [one] = known_jobs(results)
    assert (one.standing, one.reason, one.held_by) == (Standing.WAITING, "no luck", None)
    finish(job, 1, late="too late")
    [one] = known_jobs(results)
    assert (one.benchmark, one.standing, one.reason) == ("demo", Standing.TIMED_OUT, "too late")
    (results / "stray").mkdir()
    (results / "stray" / "checkpoint.json").write_text("nonsense")
    assert len(list(known_jobs(results))) == 1
