"""Run a part of a run again, and name every verdict that does not come out the same: a flake.

All that decides a verdict comes from the run's own folder: its completions, its options, and the
digests of its tasks, by which the benchmark that is loaded again proves to be the same one.
"""

import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.errors import InputError
from proctor.grading.grade import Grader
from proctor.grading.pipeline import grade_all
from proctor.grading.prepare import Options
from proctor.records.completion import Completion
from proctor.records.limits import Limits
from proctor.records.receipt import Manifest, Receipt
from proctor.records.task import Benchmark, Task
from proctor.records.verdict import Bucket, Outcome, TestResult
from proctor.sandbox import Sandbox
from proctor.storage.journal import Key, read_journal
from proctor.storage.run_directory import COMPLETIONS, RECEIPTS

Change = Callable[[Task], Task]
Load = Callable[[Change], Benchmark]


class RecordedVerdict(msgspec.Struct, frozen=True):
    """A verdict, as a receipt has it."""

    task_id: str
    sample: int
    outcome: Outcome | None
    bucket: Bucket
    detail: str
    tests: Sequence[TestResult]
    completion_sha256: str
    task_sha256: str

    @property
    def passed(self) -> list[tuple[int, bool]]:
        """Which tests passed."""
        return [(test.index, test.passed) for test in self.tests]


class RepeatedVerdict(msgspec.Struct, frozen=True):
    """What a verdict was at one time."""

    outcome: Outcome | None
    bucket: Bucket
    detail: str
    tests_passed: int


class Flake(msgspec.Struct, frozen=True, kw_only=True):
    """A sample that is judged differently the second time."""

    task_id: str
    sample: int
    before: RepeatedVerdict
    now: RepeatedVerdict


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What came of running a part again."""

    benchmark: str
    model: str
    samples: int
    """Samples that were run again."""
    of: int
    """Samples that the run has receipts of."""
    same: int
    unscored: int
    """Samples that could not be judged this time, which says nothing of them."""
    flakes: Sequence[Flake]
    run_dir: str
    seed: int
    schema: int = 1


def choose_samples(
    run_dir: Path, manifest: Manifest, share: float, seed: int
) -> dict[tuple[str, int], RecordedVerdict]:
    """Choose a part of a run's receipts, the same one every time for one seed."""
    draw = random.Random(seed).random  # noqa: S311  no secret
    receipts = read_journal(run_dir / RECEIPTS, RecordedVerdict, lambda _, n: n < manifest.samples)
    picked = {(one.task_id, one.sample): one for one in receipts if draw() < share}
    if not picked:
        raise InputError(f"{run_dir}: no receipt was drawn to be verified; ask for a larger share")
    return picked


def same_benchmark(load: Load, limits: Limits | None, was: RecordedVerdict) -> Benchmark:
    """Load the benchmark as it was judged: the task's digest says whether it is that one."""
    for change in _changes(limits):
        benchmark = load(change)
        try:
            task = benchmark.finder()(was.task_id)
        except KeyError:
            break
        if task.sha256 == was.task_sha256:
            return benchmark
    raise InputError(
        f"the benchmark is not the one that was judged: its task {was.task_id} is another one now; "
        f"name the file of that time with --data"
    )


def _changes(limits: Limits | None) -> Iterator[Change]:
    """Yield what flags may have made of the tasks' own limits."""
    yield lambda task: task
    if limits is None:
        return
    seconds, size = limits.cpu_seconds, limits.memory_bytes
    yield lambda task: task.limited(task.limits.with_seconds(seconds), final=True)
    yield lambda task: task.limited(_sized(task.limits, size), final=False)
    yield lambda task: task.limited(_sized(task.limits.with_seconds(seconds), size), final=True)


def _sized(limits: Limits, size: int) -> Limits:
    return msgspec.structs.replace(limits, memory_bytes=size)


def verify_run(
    run_dir: Path,
    manifest: Manifest,
    benchmark: Benchmark,
    before: Mapping[tuple[str, int], RecordedVerdict],
    *,
    sandbox: Sandbox,
    options: Options,
    seed: int,
    stop: threading.Event | None = None,
    watch: Callable[[Receipt], None] = lambda _: None,
) -> Verified:
    """Grade the chosen samples again and compare."""
    flakes: list[Flake] = []
    same = unscored = 0
    grader = Grader(sandbox, msgspec.structs.replace(options, reuse=False))
    again = _completions(run_dir, manifest, before)
    for receipt in grade_all(grader, benchmark, again, stop):
        was = before[receipt.task_id, receipt.sample]
        watch(receipt)
        passed = [(test.index, test.passed) for test in receipt.tests]
        if (was.bucket, was.passed) == (receipt.bucket, passed):
            same += 1
        elif receipt.outcome is None:
            unscored += 1
        else:
            flakes.append(_flake(was, receipt))
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt
    return Verified(
        benchmark=manifest.benchmark,
        model=manifest.model,
        samples=len(before),
        of=sum(1 for _ in read_journal(run_dir / RECEIPTS, Key)),
        same=same,
        unscored=unscored,
        flakes=sorted(flakes, key=lambda flake: (flake.task_id, flake.sample)),
        run_dir=str(run_dir),
        seed=seed,
    )


def _completions(
    run_dir: Path, manifest: Manifest, before: Mapping[tuple[str, int], RecordedVerdict]
) -> Iterator[Completion]:
    place = run_dir / COMPLETIONS
    left = len(before)
    for completion in read_journal(place, Completion, lambda _, n: n < manifest.samples):
        was = before.get((completion.task_id, completion.sample))
        if was is None:
            continue
        if completion.sha256 != was.completion_sha256:
            raise InputError(
                f"{place}: sample {was.sample} of {was.task_id} is not what was judged; "
                f"the file was changed since"
            )
        left -= 1
        yield completion
    if left:
        raise InputError(f"{place}: the completions of {left} receipts are not in it")


def _flake(was: RecordedVerdict, receipt: Receipt) -> Flake:
    return Flake(
        task_id=was.task_id,
        sample=was.sample,
        before=_said(was),
        now=_said(receipt),
    )


def _said(one: RecordedVerdict | Receipt) -> RepeatedVerdict:
    return RepeatedVerdict(
        one.outcome, one.bucket, one.detail, sum(test.passed for test in one.tests)
    )
