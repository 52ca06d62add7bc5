"""One watcher: what it evaluates, what it leaves alone, and how it ends what does not end."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.results.summary import summarize
from proctor.settings import load_settings
from proctor.storage.run_directory import read_manifest
from proctor.watch.config import Config
from proctor.watch.job_state import RUN, Evaluated, Known, Standing, known_jobs
from proctor.watch.leases import Leases, Why, latest
from proctor.watch.loop import Watcher

Make = Callable[..., Path]
Configure = Callable[..., Config]


@pytest.fixture
def demo(tasks: Make, relied_on: Callable[..., Any]) -> Path:
    """Return a benchmark in rotation."""
    path = tasks()
    relied_on(path)
    return path


@pytest.fixture
def watched(alone: Path) -> Callable[..., list[Known]]:
    """Return a function that watches once and says how jobs stand; what it said is kept."""

    def watch(config: Config, said: list[str] | None = None, **more: Any) -> list[Known]:
        say = (lambda _: None) if said is None else said.append
        stop = more.pop("stop", threading.Event())
        watcher = Watcher(config, load_settings(), mirror=more.get("mirror"), stop=stop, say=say)
        watcher.run(once=True)
        return list(known_jobs(Path(config.results)))

    return watch


def last_word(job: Known) -> Evaluated:
    assert job.evaluated is not None
    return job.evaluated


@pytest.mark.usefixtures("demo")
def test_checkpoints_of_one_name_are_told_apart(
    config: Configure, checkpoint: Make, watched: Callable[..., list[Known]], asked: Any
) -> None:
    good, bad = checkpoint("a/step-1"), checkpoint("b/step-1", off=1)
    settings = config(pattern="*/step-*")
    jobs = {job.checkpoint.path: last_word(job) for job in watched(settings)}
    assert {path: (one.standing, one.passed) for path, one in jobs.items()} == {
        str(good): (Standing.DONE, 3),
        str(bad): (Standing.DONE, 0),
    }
    for job in known_jobs(Path(settings.results)):
        manifest = read_manifest(Path(job.folder) / RUN)
        assert job.checkpoint.path in manifest.model
        assert manifest.prompts_sha256 is not None
        assert summarize(Path(job.folder) / RUN).complete
        assert not list(Path(job.folder).glob("attempt.*"))
    before = asked()
    assert len(before) == len(set(before)) == 6
    watched(settings)
    assert asked() == before


def test_only_what_is_in_rotation(
    config: Configure,
    checkpoint: Make,
    watched: Callable[..., list[Known]],
    demo: Path,
    tasks: Make,
) -> None:
    del demo
    checkpoint("step-1")
    other = tasks("other")
    said: list[str] = []
    jobs = watched(config(benchmarks=["demo.jsonl", "other.jsonl"]), said)
    assert [job.benchmark for job in jobs] == ["demo"]
    assert any(line.startswith(f"{other}: not in rotation: nothing is known") for line in said)


@pytest.mark.usefixtures("demo")
def test_what_hangs_is_killed_and_degraded(
    config: Configure, checkpoint: Make, watched: Callable[..., list[Known]], asked: Any
) -> None:
    checkpoint("step-1", seconds=600)
    [job] = watched(config(benchmark_seconds=4.0))
    said = last_word(job)
    assert said.standing is Standing.TIMED_OUT
    assert said.reason == "killed after 4 s, the limit of one benchmark"
    assert (said.samples, said.unscored, said.passed) == (3, 3, 0)
    assert summarize(Path(job.folder) / RUN).buckets == {"cancelled": 3}
    assert len(asked()) == 1


@pytest.mark.usefixtures("demo")
def test_what_fails_is_tried_again_but_not_for_ever(
    config: Configure, checkpoint: Make, watched: Callable[..., list[Known]]
) -> None:
    folder = checkpoint("step-1")
    (folder / "weights.json").write_text("{}")
    broken = f"command:/nowhere/to/be/found {folder}"
    said: list[str] = []
    [job] = watched(config(model=f"{broken} {{checkpoint}}", attempts=2), said)
    word = last_word(job)
    assert (word.standing, word.run, word.attempts) == (Standing.FAILED, None, 2)
    assert word.reason.startswith("2 attempts failed, the last one: --model command:/nowhere")
    assert latest(Path(job.folder)) == 2
    assert sum("failed: --model" in line for line in said) == 2


@pytest.mark.usefixtures("demo")
def test_who_always_dies_is_not_followed_for_ever(
    config: Configure, checkpoint: Make, watched: Callable[..., list[Known]], asked: Any
) -> None:
    checkpoint("step-1")
    settings = config(attempts=2, lease_seconds=0.5)
    stopped = threading.Event()
    stopped.set()
    watched(settings, stop=stopped)
    watcher = Watcher(
        settings, load_settings(), mirror=None, stop=threading.Event(), say=lambda _: None
    )
    [job] = watcher._jobs([one for one in watcher._finder.look() if hasattr(one, "digest")])
    job.folder.mkdir(parents=True)
    (job.folder.parent / "checkpoint.json").write_text(
        json.dumps({"path": job.checkpoint.path, "fingerprint": job.checkpoint.fingerprint})
    )
    for number in (1, 2):
        (job.folder / f"lease.{number}").write_text("{}")
    [known] = watched(settings)
    assert last_word(known).standing is Standing.FAILED
    assert last_word(known).reason == "2 attempts failed, the last one: its watcher died"
    assert asked() == []


@pytest.mark.usefixtures("demo")
def test_a_checkpoint_that_changes_meanwhile_counts_for_nothing(
    config: Configure, checkpoint: Make, watched: Callable[..., list[Known]], asked: Any
) -> None:
    folder = checkpoint("step-1", seconds=0.2)

    def change() -> None:
        while not asked():
            threading.Event().wait(0.02)
        (folder / "weights.json").write_text(json.dumps({"off": 1}))

    thread = threading.Thread(target=change)
    thread.start()
    said: list[str] = []
    jobs = watched(config(), said)
    thread.join()
    [done] = [job for job in jobs if job.evaluated is not None]
    assert last_word(done).standing is Standing.DONE
    assert last_word(done).passed == 0
    assert any("the checkpoint changed while it was evaluated" in line for line in said)


@pytest.mark.usefixtures("demo")
def test_what_somebody_else_works_on_is_left_alone_until_he_is_done(
    config: Configure, checkpoint: Make, watched: Callable[..., list[Known]], asked: Any
) -> None:
    checkpoint("step-1")
    settings = config(lease_seconds=30.0)
    stop = threading.Event()
    watcher = Watcher(settings, load_settings(), mirror=None, stop=stop, say=lambda _: None)
    [job] = watcher._jobs([one for one in watcher._finder.look() if hasattr(one, "digest")])
    job.folder.mkdir(parents=True)
    lease = Leases(30.0).take(job.folder)
    assert lease is not None
    with lease:
        thread = threading.Thread(target=lambda: watcher.run(once=True))
        thread.start()
        threading.Event().wait(1.5)
        assert asked() == []
        assert thread.is_alive()
        lease.release(Why.INTERRUPTED)
    thread.join()
    assert len(asked()) == 3


@pytest.mark.usefixtures("demo")
def test_mirrors_follow(
    config: Configure, checkpoint: Make, watched: Callable[..., list[Known]], alone: Path
) -> None:
    checkpoint("step-1")
    watched(config(), mirror=alone / "mirror")
    [word] = (alone / "mirror").glob("*/*/evaluated.json")
    assert summarize(word.parent / RUN).passed == 3
