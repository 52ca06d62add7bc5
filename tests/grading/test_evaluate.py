"""A run from beginning to end, interrupted and resumed, in real folders."""

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest

from proctor.errors import InputError, SandboxError
from proctor.grading.evaluate import Plan, create_run_folder, evaluate
from proctor.grading.prepare import Options
from proctor.judge.judgement import Rules
from proctor.models.recorded import RecordedSamples
from proctor.models.reference import Reference
from proctor.records.completion import Completion, Sampling, StopReason
from proctor.records.encoding import encode
from proctor.records.execution import Enforcement, Execution, SandboxFailed
from proctor.records.limits import Limits
from proctor.records.receipt import Receipt
from proctor.records.task import Assertions, Benchmark, Task
from proctor.records.verdict import Bucket, Outcome
from proctor.sandbox import Sandbox
from proctor.storage.journal import Key, read_journal
from proctor.storage.run_directory import COMPLETIONS, MANIFEST, RECEIPTS, REPORT, read_manifest

TASKS = [
    Task(
        task_id=f"t{n}",
        entry_point="f",
        tests=Assertions(targets=[f"f(1) == {n}"]),
        canonical_solution=f"def f(x): return {n}",
    )
    for n in range(6)
]
BENCHMARK = Benchmark(name="demo", tasks=TASKS, source="demo.jsonl")


def rows(samples: int = 1) -> list[dict[str, Any]]:
    """Answer every task, the first sample right and the others wrong in their own ways."""
    return [
        {"task_id": task.task_id, "solution": f"def f(x): return {n + sample * 10}"}
        for n, task in enumerate(TASKS)
        for sample in range(samples)
    ]


class Broken:
    """A sandbox in which nothing ever starts."""

    def enforcement(self) -> Enforcement:
        return Enforcement(tier="portable", isolated=False, walls={}, clock="wall", toolchains={})

    def _fail(self, *_: object, **__: object) -> NoReturn:
        raise SandboxError("nothing starts here")

    open = repeat = exchange = session = _fail

    def run(self, *_: object, **__: object) -> Execution:
        return Execution(ending=SandboxFailed("nothing starts here"))

    def close(self) -> None:
        pass


def plan(model: Any = None, **changes: Any) -> Plan:
    given = {"benchmark": BENCHMARK, "model": model or Reference(), "options": Options(workers=2)}
    return Plan(**{**given, **changes})


def keys(path: Path) -> list[tuple[str, int]]:
    return sorted((key.task_id, key.sample) for key in read_journal(path / RECEIPTS, Key))


def test_a_run_leaves_all_it_found_out(sandbox: Sandbox, tmp_path: Path) -> None:
    out = tmp_path / "run"
    heard: list[Any] = []
    summary = evaluate(
        plan(), sandbox, out, begin=lambda *told: heard.append(told), watch=heard.append
    )
    assert (summary.tasks, summary.samples, summary.passed, summary.unscored) == (6, 6, 6, 0)
    assert (summary.degraded, summary.complete, summary.run_dir) == (False, True, str(out))
    assert heard[0] == (6, 0, out)
    assert {receipt.task_id for receipt in heard[1:]} == {task.task_id for task in TASKS}
    assert sorted(os.listdir(out)) == [COMPLETIONS, MANIFEST, RECEIPTS, REPORT]
    assert json.loads((out / REPORT).read_text())["passed"] == 6
    manifest = read_manifest(out)
    assert (manifest.benchmark, manifest.model, manifest.samples) == ("demo", "reference", 6)
    assert manifest.benchmark_sha256 == BENCHMARK.sha256
    assert len((out / COMPLETIONS).read_text().splitlines()) == 6


def test_a_finished_run_is_only_summed_up_again(sandbox: Sandbox, tmp_path: Path) -> None:
    first = evaluate(plan(), sandbox, tmp_path)
    before = (tmp_path / RECEIPTS).read_bytes()
    seen: list[Receipt] = []
    again = evaluate(plan(), Broken(), tmp_path / "other", watch=seen.append)
    assert again.unscored == 6
    seen.clear()
    again = evaluate(plan(), sandbox, tmp_path, watch=seen.append)
    assert seen == []
    assert (tmp_path / RECEIPTS).read_bytes() == before
    assert again.pass_at_k == first.pass_at_k
    assert (tmp_path / REPORT).exists()


def test_what_this_host_failed_at_is_tried_again(sandbox: Sandbox, tmp_path: Path) -> None:
    """It stands among others; those are left as they are."""
    evaluate(plan(), sandbox, tmp_path)
    receipts = list(read_journal(tmp_path / RECEIPTS, Receipt))
    changes = {"outcome": None, "bucket": Bucket.HARNESS, "score": None, "detail": "no box"}
    for number in (1, 4):
        receipts[number] = msgspec.structs.replace(receipts[number], **changes)
    unfit = {**changes, "bucket": Bucket.BENCHMARK}
    receipts[2] = msgspec.structs.replace(receipts[2], **unfit)
    unanswered = {**changes, "stop": StopReason.ERROR}
    receipts[3] = msgspec.structs.replace(receipts[3], **unanswered)
    (tmp_path / RECEIPTS).write_bytes(b"".join(encode(one) + b"\n" for one in receipts))
    seen: list[Receipt] = []
    summary = evaluate(plan(), sandbox, tmp_path, watch=seen.append)
    assert {one.task_id for one in seen} == {receipts[1].task_id, receipts[4].task_id}
    kept = [one for number, one in enumerate(receipts) if number not in (1, 4)]
    assert list(read_journal(tmp_path / RECEIPTS, Receipt))[:4] == kept
    assert (summary.samples, summary.passed, summary.unscored) == (6, 4, 2)
    assert sorted(os.listdir(tmp_path)) == [COMPLETIONS, MANIFEST, RECEIPTS, REPORT]


def test_more_programs_than_are_held(
    sandbox: Sandbox, tmp_path: Path, jsonl: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are in between, an identical one is not run again."""
    monkeypatch.setattr("proctor.grading.duplicates.MAX_RECEIPTS", 2)
    model = RecordedSamples(jsonl("s.jsonl", rows(samples=3) * 2))
    counted: Any = Counted(sandbox)
    evaluate(plan(model, options=Options(workers=1)), counted, tmp_path / "run")
    assert counted.candidates == 18
    receipts = list(read_journal(tmp_path / "run" / RECEIPTS, Receipt))
    assert len(receipts) == 36
    for one in receipts:
        assert one.reused_from == (None if one.sample < 3 else one.sample - 3)


def test_a_run_is_resumed_wherever_it_was_torn(
    sandbox: Sandbox, tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    """Wherever the last lines are torn, every sample has one receipt in the end."""
    model = RecordedSamples(jsonl("s.jsonl", rows()))
    out = tmp_path / "run"
    evaluate(plan(model), sandbox, out)
    receipts, completions = (out / RECEIPTS).read_bytes(), (out / COMPLETIONS).read_bytes()
    wanted = keys(out)
    for step in range(12):
        (out / RECEIPTS).write_bytes(receipts[: step * len(receipts) // 11])
        (out / COMPLETIONS).write_bytes(completions[: (step * 7 % 12) * len(completions) // 11])
        (out / REPORT).unlink()
        summary = evaluate(plan(model), sandbox, out)
        assert keys(out) == wanted
        assert (summary.passed, summary.complete) == (6, True)
        assert sorted((out / COMPLETIONS).read_bytes().splitlines()) == sorted(
            completions.splitlines()
        )


class Counting(RecordedSamples):
    """Recorded completions that count how often they are read."""

    reads = 0

    def complete(self, benchmark: Benchmark, sampling: Sampling) -> Iterator[Completion]:
        self.reads += 1
        return super().complete(benchmark, sampling)


def test_resumed_run_reads_its_copy_of_the_completions(
    sandbox: Sandbox, tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    model = Counting(jsonl("s.jsonl", rows(samples=3)))
    out = tmp_path / "run"
    evaluate(plan(model), sandbox, out)
    assert model.reads == 2  # to check them, then to copy them
    wanted, completions = outcomes(out), (out / COMPLETIONS).read_bytes()
    keep_lines(out / RECEIPTS, 7)
    evaluate(plan(model), sandbox, out)
    assert model.reads == 3
    assert (outcomes(out), (out / COMPLETIONS).read_bytes()) == (wanted, completions)


def test_unfinished_copy_of_the_completions_is_made_again(
    sandbox: Sandbox, tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    model = RecordedSamples(jsonl("s.jsonl", rows(samples=2)))
    out = tmp_path / "run"
    evaluate(plan(model), sandbox, out)
    wanted, completions = outcomes(out), (out / COMPLETIONS).read_bytes()
    for graded, copied in ((0, 0), (0, 9), (3, 4), (12, 11)):
        keep_lines(out / RECEIPTS, graded)
        keep_lines(out / COMPLETIONS, copied)
        evaluate(plan(model), sandbox, out)
        assert (outcomes(out), (out / COMPLETIONS).read_bytes()) == (wanted, completions)


def test_lone_surrogates_are_graded_as_recorded(
    sandbox: Sandbox, tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    """The copy spells them out, and as an escape this one would be valid Python."""
    row = {"task_id": "t0", "solution": "def f(x): return 0  # \ud83d"}
    model = RecordedSamples(jsonl("s.jsonl", [row]))
    out = tmp_path / "run"
    evaluate(plan(model, partial=True), sandbox, out)
    (fresh,) = read_journal(out / RECEIPTS, Receipt)
    keep_lines(out / RECEIPTS, 0)
    evaluate(plan(model, partial=True), sandbox, out)
    (resumed,) = read_journal(out / RECEIPTS, Receipt)
    assert fresh.bucket == resumed.bucket == Bucket.SYNTAX
    assert fresh.completion_sha256 == resumed.completion_sha256


def outcomes(out: Path) -> dict[tuple[str, int], Bucket]:
    receipts = list(read_journal(out / RECEIPTS, Receipt))
    return {(one.task_id, one.sample): one.bucket for one in receipts}


def keep_lines(path: Path, count: int) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:count]))


def test_another_samples_file_of_the_same_name_is_another_run(
    sandbox: Sandbox, tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    model = RecordedSamples(jsonl("s.jsonl", rows()))
    evaluate(plan(model), sandbox, tmp_path / "run")
    changed = rows()
    changed[3]["solution"] = "def f(x): return 99"
    jsonl("s.jsonl", changed)
    with pytest.raises(InputError, match="belongs to another run: its completions_sha256 is"):
        evaluate(plan(model), sandbox, tmp_path / "run")
    assert evaluate(plan(model), sandbox, tmp_path / "run", fresh=True).passed == 5


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"options": Options(workers=2, preamble="base")}, "preamble"),
        ({"options": Options(workers=2, extract="never")}, "extract"),
        ({"options": Options(workers=2, reuse=False)}, "reuse"),
        ({"options": Options(rules=Rules(early_stop=True))}, "early_stop"),
        ({"options": Options(rules=Rules(max_tests=3))}, "max_tests"),
        ({"limits": Limits()}, "limits"),
        ({"sampling": Sampling(seed=1)}, "sampling.seed"),
        ({"benchmark": Benchmark(name="demo", tasks=TASKS[:1])}, "tasks"),
        ({"benchmark": Benchmark(name="other", tasks=TASKS)}, "benchmark"),
    ],
)
def test_what_makes_another_run(
    sandbox: Sandbox, tmp_path: Path, changes: dict[str, Any], field: str
) -> None:
    evaluate(plan(), sandbox, tmp_path)
    with pytest.raises(InputError, match=rf"belongs to another run: its {field} is"):
        evaluate(plan(**changes), sandbox, tmp_path)


def test_workers_partial_and_ks_do_not(sandbox: Sandbox, tmp_path: Path) -> None:
    evaluate(plan(), sandbox, tmp_path)
    evaluate(plan(options=Options(workers=1), partial=True, ks=[1]), sandbox, tmp_path)


def test_unscored_is_degraded_and_never_wrong(tmp_path: Path) -> None:
    summary = evaluate(plan(), Broken(), tmp_path)
    assert (summary.samples, summary.unscored, summary.passed) == (6, 6, 0)
    assert summary.outcomes == dict.fromkeys(Outcome, 0)
    assert summary.buckets == {Bucket.HARNESS: 6}
    assert summary.degraded
    estimate = summary.pass_at_k["1"]
    assert (estimate.value, estimate.unscored, estimate.left_out) == (None, 6, 6)


class Flaky:
    """A real sandbox that fails for one program, and for known-good ones when it is tried."""

    def __init__(self, real: Sandbox) -> None:
        self._real = real

    def exchange(self, requests: bytes, limits: Any, role: Any = "candidate") -> Any:
        if b"return 3" in requests:
            raise SandboxError("not this one")
        return self._real.exchange(requests, limits, role)

    def open(self, *_: object) -> NoReturn:
        raise SandboxError("nor the probe")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def test_some_unscored_leave_the_others_alone(sandbox: Sandbox, tmp_path: Path) -> None:
    flaky: Any = Flaky(sandbox)
    summary = evaluate(plan(), flaky, tmp_path)
    assert (summary.passed, summary.unscored, summary.degraded) == (5, 1, True)
    estimate = summary.pass_at_k["1"]
    assert (estimate.value, estimate.tasks, estimate.left_out) == (1.0, 5, 1)


class GivesOut:
    """A model that gives out in the middle of the second pass."""

    name = "breaks"

    def __init__(self) -> None:
        self.passes = 0

    def complete(self, benchmark: Benchmark, sampling: Sampling) -> Iterator[Completion]:
        self.passes += 1
        for number, completion in enumerate(Reference().complete(benchmark, sampling)):
            if self.passes == 2 and number == 3:
                raise InputError("the file is gone")
            yield completion


def test_a_model_that_gives_out_loses_nothing(sandbox: Sandbox, tmp_path: Path) -> None:
    model = GivesOut()
    with pytest.raises(InputError, match="the file is gone"):
        evaluate(plan(model), sandbox, tmp_path)
    assert not (tmp_path / REPORT).exists()
    assert evaluate(plan(model), sandbox, tmp_path).passed == 6
    assert len(keys(tmp_path)) == len(set(keys(tmp_path))) == 6


def test_stop_saves_and_raises_and_the_run_goes_on(
    sandbox: Sandbox, tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    model = RecordedSamples(jsonl("s.jsonl", rows(samples=5)))
    out, stop = tmp_path / "run", threading.Event()
    seen: Counter[tuple[str, int]] = Counter()

    def watch(receipt: Receipt) -> None:
        seen[receipt.task_id, receipt.sample] += 1
        if len(seen) % 7 == 0:
            stop.set()

    for _ in range(3):
        stop.clear()
        with pytest.raises(KeyboardInterrupt):
            evaluate(plan(model), sandbox, out, stop=stop, watch=watch)
        assert not (out / REPORT).exists()
        assert keys(out) == sorted(seen)
    stop.clear()
    summary = evaluate(plan(model), sandbox, out, watch=watch)
    assert (summary.samples, summary.passed) == (30, 6)
    assert set(seen.values()) == {1}, "no sample was graded twice"


class Counted:
    """A sandbox that counts candidates."""

    def __init__(self, real: Sandbox) -> None:
        self._real = real
        self.candidates = 0

    def exchange(self, requests: bytes, limits: Any, role: Any = "candidate") -> Any:
        self.candidates += role == "candidate"
        return self._real.exchange(requests, limits, role)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def test_a_run_that_goes_on_runs_no_program_again(
    sandbox: Sandbox, tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    same = [{"task_id": task.task_id, "solution": "def f(x): return 1"} for task in TASKS]
    model = RecordedSamples(jsonl("s.jsonl", [row for row in same for _ in range(8)]))
    out, stop = tmp_path / "run", threading.Event()
    counted: Any = Counted(sandbox)
    with pytest.raises(KeyboardInterrupt):
        evaluate(
            plan(model, options=Options(workers=1)),
            counted,
            out,
            stop=stop,
            watch=lambda _: stop.set(),
        )
    before = list(read_journal(out / RECEIPTS, Receipt))
    assert 0 < len(before) < 8
    assert evaluate(plan(model, options=Options(workers=1)), counted, out).samples == 48
    receipts = list(read_journal(out / RECEIPTS, Receipt))
    assert receipts[: len(before)] == before
    assert counted.candidates == 6
    assert [one.reused_from for one in receipts] == [None, *[0] * 7] * 6
    assert {one.bucket for one in receipts} == {Bucket.PASSED, Bucket.WRONG_ANSWER}


def test_samples_that_change_under_the_run(
    sandbox: Sandbox, tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    model = RecordedSamples(jsonl("s.jsonl", rows()))

    def begin(*_: object) -> None:
        jsonl("s.jsonl", rows()[::-1])

    with pytest.raises(InputError, match=r"^recorded:s.jsonl: it changed while it was graded;"):
        evaluate(plan(model), sandbox, tmp_path / "run", begin=begin)
    assert not (tmp_path / "run" / REPORT).exists()


def test_tasks_that_nothing_can_be_judged_by(sandbox: Sandbox, tmp_path: Path) -> None:
    broken = msgspec.structs.replace(TASKS[1], canonical_solution="def f(x): return 0")
    benchmark = Benchmark(name="demo", tasks=[TASKS[0], broken])
    for confirm_failures, unscored in ((False, 0), (True, 1)):
        options = Options(workers=2, confirm_failures=confirm_failures)
        out = tmp_path / str(confirm_failures)
        summary = evaluate(plan(benchmark=benchmark, options=options), sandbox, out)
        assert (summary.passed, summary.unscored, len(summary.unfit)) == (1, unscored, unscored)
    assert summary.unfit["t1"].startswith("canonical_solution fails the task's own tests (wrong_")


def test_who_stops_now_does_not_wait(
    kernel: Sandbox, tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    """Also when a receipt is being written just then, not only while one is waited for."""
    slow = "import time\ntime.sleep(2.5)"
    rows = [
        {"task_id": "t0", "solution": "def f(x): return 0"},
        {"task_id": "t1", "solution": slow},
    ]
    model = RecordedSamples(jsonl("s.jsonl", rows))

    def stop_now(receipt: Receipt) -> None:
        raise KeyboardInterrupt

    before = set(threading.enumerate())  # other tests may have graders of their own
    with pytest.raises(KeyboardInterrupt):
        evaluate(plan(model, partial=True), kernel, tmp_path / "run", watch=stop_now)
    new = set(threading.enumerate()) - before
    left = [one for one in new if one.name.startswith("grader")]
    assert left, "somebody still waits for the slow one, but not we"
    assert keys(tmp_path / "run") == [("t0", 0)]
    for one in left:
        one.join()


def test_a_stop_that_comes_too_late_is_a_finished_run(sandbox: Sandbox, tmp_path: Path) -> None:
    stop = threading.Event()
    benchmark = Benchmark(name="one", tasks=TASKS[:1])
    summary = evaluate(
        plan(benchmark=benchmark), sandbox, tmp_path, stop=stop, watch=lambda _: stop.set()
    )
    assert (summary.complete, (tmp_path / REPORT).exists()) == (True, True)


# What is refused before anything is written


def refused(model: Any, tmp_path: Path, **changes: Any) -> str:
    out = tmp_path / "run"
    with pytest.raises(InputError) as caught:
        evaluate(plan(model, **changes), Broken(), out)
    assert not out.exists()
    return str(caught.value)


def test_tasks_without_completions(
    sandbox: Sandbox, tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    model = RecordedSamples(jsonl("s.jsonl", rows()[1:4]))
    assert refused(model, tmp_path) == (
        "recorded:s.jsonl: no completion for 3 of 6 tasks (t0, t4, t5); --partial scores the others"
    )
    summary = evaluate(plan(model, partial=True), sandbox, tmp_path / "run")
    assert (summary.tasks, summary.passed, summary.degraded) == (3, 3, False)


def test_very_many_tasks_without_completions(tmp_path: Path, jsonl: Callable[..., Path]) -> None:
    tasks = [Task(task_id=f"t{n}", tests=TASKS[0].tests) for n in range(500)]
    model = RecordedSamples(jsonl("s.jsonl", rows()[:1]))
    said = refused(model, tmp_path, benchmark=Benchmark(name="x", tasks=tasks))
    assert "499 of 500 tasks (t1, t2, " in said
    assert said.endswith(", t100 and 399 more); --partial scores the others")


def test_no_completions_at_all(tmp_path: Path, jsonl: Callable[..., Path]) -> None:
    model = RecordedSamples(jsonl("s.jsonl", []))
    said = "recorded:s.jsonl: there are no completions in it"
    assert refused(model, tmp_path) == said
    assert refused(model, tmp_path, partial=True) == said


def test_k_above_n(tmp_path: Path, jsonl: Callable[..., Path]) -> None:
    model = RecordedSamples(jsonl("s.jsonl", rows(samples=2)))
    assert refused(model, tmp_path, ks=[1, 3]) == "--k 3: no task has more than 2 samples"


def test_no_reference_solution(tmp_path: Path) -> None:
    tasks = [*TASKS[:2], Task(task_id="x", tests=TASKS[0].tests)]
    said = refused(
        Reference(), tmp_path, benchmark=Benchmark(name="x", tasks=tasks, source="x.jsonl")
    )
    assert said == "x.jsonl: no canonical_solution in 1 of 3 tasks, the first of which is x"


# Where a run goes


def test_a_folder_of_its_own(alone: Path) -> None:
    one = create_run_folder("demo", "org/model:7b v2")
    assert one.parent == Path("runs/demo/org_model_7b_v2")
    others = {create_run_folder("demo", "org/model:7b v2") for _ in range(3)}
    assert one not in others
    assert len(others) == 3
    assert all(path.is_dir() for path in others)


def test_no_place_for_a_folder(alone: Path) -> None:
    Path("runs").write_text("not a folder")
    with pytest.raises(InputError) as caught:
        create_run_folder("demo", "recorded:samples.jsonl")
    said = "cannot create runs/demo/recorded_samples.jsonl: Not a directory; "
    assert str(caught.value) == said + "name another place with --out"


def test_the_default_place(sandbox: Sandbox, alone: Path) -> None:
    summary = evaluate(plan(), sandbox)
    assert Path(summary.run_dir).parent == Path("runs/demo/reference")


def test_what_there_is_no_time_for_is_cancelled_and_graded_another_time(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    out, stop = tmp_path / "run", threading.Event()
    one = Options(workers=1)
    with pytest.raises(KeyboardInterrupt):
        evaluate(plan(options=one), sandbox, out, stop=stop, watch=lambda _: stop.set())
    graded = len(keys(out))
    assert 0 < graded < 6
    late = evaluate(plan(options=one, seconds=0.0), sandbox, out)
    assert (late.samples, late.complete, late.degraded) == (6, True, True)
    assert late.buckets["cancelled"] == late.unscored == 6 - graded
    assert late.passed == graded
    assert late.missing == {"not graded within 0 s, the limit of the whole benchmark": 6 - graded}
    with pytest.raises(KeyboardInterrupt):  # what the report said holds no more by then
        evaluate(plan(options=one), sandbox, out, stop=stop)
    assert len(keys(out)) == graded
    assert not (out / REPORT).exists()
    whole = evaluate(plan(options=one), sandbox, out)
    assert (whole.passed, whole.degraded) == (6, False)
    assert len(keys(out)) == 6
