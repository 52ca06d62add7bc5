"""The same receipts, wherever samples are judged and whatever is lost on the way."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest

import proctor
from proctor.cancellation import Cancelled, cancellable
from proctor.errors import ClusterError, InputError
from proctor.grading.engine import JudgeRequest
from proctor.grading.evaluate import Plan, evaluate
from proctor.grading.grade import Grader
from proctor.grading.pipeline import grade_all
from proctor.grading.prepare import Options
from proctor.grading.ray.engine import RayEngine, open_ray_engine
from proctor.grading.ray.remote_sandbox import open_remote_sandbox
from proctor.grading.ray.worker import WorkerReady, WorkerSetup
from proctor.grading.receipts import software_versions
from proctor.records.completion import Completion
from proctor.records.execution import Exited
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.receipt import Receipt
from proctor.records.task import Assertions, Benchmark, StdinCases, Task
from proctor.records.verdict import Bucket, Unscored
from proctor.sandbox import Sandbox
from proctor.sandbox.tiers.select import open_sandbox
from proctor.settings import load_settings

DOUBLE = Task(task_id="double", entry_point="double", tests=Assertions(targets=["double(2) == 4"]))
RIGHT, WRONG = "def double(x):\n    return 2 * x\n", "def double(x):\n    return 3 * x\n"
FEW = 60
Facts = Callable[[Path], dict[tuple[str, int], Any]]
Samples = Callable[[int], Plan]


def open_sandbox_here() -> Sandbox:
    return open_sandbox(load_settings().sandbox, sys.executable, None, [])


def opened(batch_size: int = 4, **how: Any) -> Any:
    setup = WorkerSetup(sandbox=load_settings().sandbox, packages=how.pop("packages", []))
    return closing(open_ray_engine(setup, batch_size=batch_size, **how))


@pytest.fixture(scope="module")
def here(samples: Samples, facts: Facts, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Judge some samples on this machine."""
    out = tmp_path_factory.mktemp("local") / "run"
    sandbox = open_sandbox_here()
    summary = evaluate(samples(FEW), sandbox, out)
    sandbox.close()
    return out, summary


@pytest.fixture(scope="module")
def cluster(machines: Any) -> Iterator[RayEngine]:
    """Share actors between all tests that do not harm them; tests that need others come first."""
    with opened(batch_size=2) as one:
        yield one


def asked(source: str = RIGHT) -> JudgeRequest:
    return JudgeRequest(task=DOUBLE, program=Program(source=source))


@pytest.mark.slow
def test_grading_inside_ray_actors(machines: Any) -> None:
    import ray

    class Actor:
        def scores(self, texts: list[str]) -> list[Any]:
            return [one.score for one in proctor.grade_many((DOUBLE, text) for text in texts)]

    class Asynchronous:
        async def scores(self, texts: list[str]) -> list[Any]:
            return [one.score async for one in proctor.grade_many((DOUBLE, text) for text in texts)]

    actors = [ray.remote(num_cpus=0)(kind).remote() for kind in (Actor, Asynchronous)]
    scores = ray.get([actor.scores.remote([RIGHT, "def ("]) for actor in actors], timeout=120)
    for actor in actors:
        ray.kill(actor)
    assert scores == [[1.0, 0.0]] * 2


@pytest.mark.slow
def test_the_command_line(machines: Any, proctor: Callable[..., Any]) -> None:
    run = ("run", "basics", "--model", "reference", "--samples", 3, "--json")
    local = msgspec.json.decode(proctor(*run, "--out", "local").out)
    ran = proctor(*run, "--out", "ray", "--engine", "ray", "--batch-size", 3)
    assert (ran.status, ran.err) == (0, "")
    there = msgspec.json.decode(ran.out)
    for name in ("run_dir", "seconds"):
        del local[name], there[name]
    assert there == local


def test_one_machine_three_machines_and_one_that_is_lost(
    machines: Any, samples: Samples, facts: Facts, here: Any, tmp_path: Path
) -> None:
    local, summary = here
    expected = facts(local)
    assert len(expected) == FEW
    assert len({receipt["bucket"] for receipt in expected.values()}) >= 4
    assert any(receipt["reused_from"] is not None for receipt in expected.values())

    def run(name: str, watch: Callable[[Receipt], None] = lambda _: None) -> None:
        with opened() as cluster:
            done = evaluate(samples(FEW), cluster, tmp_path / name, watch=watch)
        assert facts(tmp_path / name) == expected
        assert (done.outcomes, done.degraded) == (summary.outcomes, False)

    run("one")
    machines.have(3)
    run("three")
    seen = 0

    def lose_one(_: Receipt) -> None:
        nonlocal seen
        seen += 1
        if seen == FEW // 2:
            machines.kill_one()

    run("lost", lose_one)
    assert (tmp_path / "lost" / "manifest.json").read_bytes() != b""


@pytest.mark.slow
def test_what_the_run_was_begun_with_goes_on_elsewhere(
    machines: Any, samples: Samples, facts: Facts, here: Any, tmp_path: Path
) -> None:
    stop = threading.Event()
    out = tmp_path / "run"
    with opened() as cluster, pytest.raises(KeyboardInterrupt):
        evaluate(samples(FEW), cluster, out, stop=stop, watch=lambda _: stop.set())
    begun = facts(out)
    assert 0 < len(begun) < FEW
    with opened(batch_size=1) as cluster:
        evaluate(samples(FEW), cluster, out)
    assert facts(out).keys() == facts(here[0]).keys()
    assert {key: facts(out)[key] for key in begun} == begun


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_thousand_samples(
    machines: Any, samples: Samples, facts: Facts, tmp_path: Path
) -> None:
    sandbox = open_sandbox_here()
    evaluate(samples(2000), sandbox, tmp_path / "local")
    sandbox.close()
    expected = facts(tmp_path / "local")
    assert len(expected) == 2000
    for name, machines_, lose in (("one", 1, False), ("three", 3, False), ("lost", 3, True)):
        machines.have(machines_)
        half = threading.Semaphore(999)

        def watch(_: Receipt, lose: bool = lose, half: threading.Semaphore = half) -> None:
            if lose and not half.acquire(blocking=False):
                half.release(10_000)
                machines.kill_one()

        with opened(batch_size=16) as cluster:
            summary = evaluate(samples(2000), cluster, tmp_path / name, watch=watch)
        assert not summary.degraded
        assert facts(tmp_path / name) == expected, name


def test_a_station_that_is_killed_and_a_program_that_kills(machines: Any) -> None:
    with opened(batch_size=8) as cluster:
        seen: list[str] = []
        ours = [cluster.submit(asked(f"{RIGHT}# {number}\n")) for number in range(30)]
        bad = cluster.submit(asked("import time\ntime.sleep(0.7)\n" + RIGHT + "# bad\n"))

        def kill_who_has_it() -> None:
            while not bad.done():
                for one in list(cluster._actors):
                    works = list(one.place.works.values())
                    if one.here and any("# bad" in work.asked.program.source for work in works):
                        seen.append(str(sorted(work.losses for work in works)))
                        time.sleep(0.2)
                        cluster._ray.kill(one.actor)
                        while one in cluster._actors:
                            time.sleep(0.02)
                time.sleep(0.02)

        killer = threading.Thread(target=kill_who_has_it)
        killer.start()
        verdict = bad.result(timeout=200).verdict
        killer.join()
        assert isinstance(verdict, Unscored)
        assert "were lost while they judged it" in verdict.reason
        found = [one.result(timeout=60).verdict.bucket for one in ours]
        assert found == [Bucket.PASSED] * 30
        assert seen[1:] == ["[1]", "[2]"], "when it was tried again, it was alone"


def test_as_a_library_inside_a_ray_program(machines: Any, alone: Path) -> None:
    row = {"task_id": "t", "entry_point": "f", "canonical_solution": "def f(x):\n    return x\n"}
    tests = {"kind": "assertions", "targets": ["f(1) == 1"]}
    Path("tasks.jsonl").write_bytes(msgspec.json.encode({**row, "tests": tests}))
    summary = proctor.evaluate("tasks.jsonl", engine="ray", out="run")
    assert (summary.samples, summary.passed, summary.degraded) == (1, 1, False)
    with pytest.raises(InputError, match="it needs engine='ray'"):
        proctor.evaluate("tasks.jsonl", address="auto")


def test_what_cannot_be_had(machines: Any) -> None:
    with pytest.raises(InputError, match="part of a Ray cluster already"):
        open_ray_engine(WorkerSetup(), address="127.0.0.1:6379")
    with pytest.raises(InputError, match="/no/such/python"):
        open_ray_engine(WorkerSetup(python="/no/such/python"))


def test_no_more_is_taken_than_there_is_use_for(cluster: RayEngine) -> None:
    taken: list[int] = []

    def stream() -> Iterator[Completion]:
        for number in count():
            taken.append(number)
            yield Completion(
                task_id="double", sample=number, id="", completion=f"{RIGHT}#{number}", whole=True
            )

    receipts = grade_all(
        Grader(cluster, Options(reuse=False)), Benchmark(name="b", tasks=[DOUBLE]), stream()
    )
    for done in range(1, 101):
        assert next(receipts).bucket is Bucket.PASSED
        assert len(taken) - done <= cluster.max_in_flight
    receipts.close()
    assert cluster.max_in_flight <= 3 * 2 * cluster.workers + 4
    assert all(not one.place.works for one in cluster._actors)


def test_a_service_has_a_cluster_run_its_jobs(cluster: RayEngine, kernel: Sandbox) -> None:
    sandbox = open_remote_sandbox(cluster, kernel)
    ran = sandbox.run(Program(source="print(input())\n"), Limits(), b"hello\n")
    assert (ran.ending, ran.stdout) == (Exited(0), b"hello\n")
    assert sandbox.enforcement() == kernel.enforcement(), "the rest is here"
    dropped = threading.Event()
    dropped.set()
    with pytest.raises(Cancelled), cancellable(dropped):
        cluster.judge(asked())
    assert cluster.judge(asked()).verdict.bucket is Bucket.PASSED


def test_a_service_judges_on_a_cluster(cluster: RayEngine, kernel: Sandbox) -> None:
    from proctor.client.schema import Grade
    from proctor.server.grade import graded_body, grading_plan
    from proctor.server.keys import ANYBODY
    from proctor.server.service import Service

    service = Service(
        open_remote_sandbox(cluster, kernel),
        workers=cluster.workers,
        engine=cluster,
        memory_bytes=cluster.memory_bytes,
    )
    row = {"task_id": "double", "entry_point": "double"}
    task = {**row, "tests": {"kind": "assertions", "targets": ["double(2) == 4"]}}
    ask = Grade(task=msgspec.Raw(msgspec.json.encode(task)), completions=[RIGHT, WRONG, RIGHT])

    async def answer() -> list[Receipt]:
        return await graded_body(
            service, ANYBODY, await grading_plan(service, ask, max_completions=9)
        )

    try:
        buckets = [one.bucket for one in asyncio.run(answer())]
        assert buckets == [Bucket.PASSED, Bucket.WRONG_ANSWER, Bucket.PASSED]
        assert asyncio.run(service.ready())
    finally:
        service.gate.close()


def test_large_tasks_and_defects(cluster: RayEngine) -> None:
    big = msgspec.structs.replace(DOUBLE, task_id="big", prompt="#" * 300_000)
    program = Program(source=RIGHT)
    futures = [cluster.submit(JudgeRequest(task=big, program=program)) for _ in range(9)]
    buckets = {one.result(timeout=60).verdict.bucket for one in futures}
    assert buckets == {Bucket.PASSED}
    cases = StdinCases(inputs=["1"], outputs=["1"], compare="no such rule")
    unknown = msgspec.structs.replace(DOUBLE, tests=cases)
    with pytest.raises(InputError, match="no such rule"):
        cluster.judge(JudgeRequest(task=unknown, program=program))


def test_a_machine_that_would_judge_in_another_way_is_not_used(cluster: RayEngine) -> None:
    arrived = WorkerReady(
        host="h", version=software_versions()["proctor"], enforcement=cluster.enforcement()
    )
    changed = msgspec.structs.replace(arrived.enforcement, clock="sundial")
    other = msgspec.structs.replace(arrived, enforcement=changed)
    assert cluster._difference(arrived) is None
    assert "h differs: its clock is sundial" in str(cluster._difference(other))
    old = msgspec.structs.replace(arrived, version="0.0.1")
    assert "h has Proctor 0.0.1, not" in str(cluster._difference(old))
    assert cluster.refused == []


def test_who_comes_too_late_is_told(cluster: RayEngine) -> None:
    slow = cluster.submit(asked("import time\ntime.sleep(2)\n" + RIGHT))
    while not slow.running():
        time.sleep(0.01)
    cluster.close()
    with pytest.raises(ClusterError, match="the cluster was left"):
        slow.result(timeout=5)
    with pytest.raises(ClusterError, match="the cluster was left"):
        cluster.submit(asked())
