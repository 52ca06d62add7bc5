"""One run from beginning to end: what is asked for, a folder for it, receipts, a summary."""

import socket
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from proctor.completion import Completion, Sampling
from proctor.errors import InputError
from proctor.models import Model
from proctor.receipt import Manifest, Receipt, versions
from proctor.run import Grader, Options, grade_all
from proctor.sandbox import Limits, Sandbox
from proctor.store import RECEIPTS, RunDirectory, read_journal
from proctor.summary import Brief, Summary, summarize
from proctor.task import Benchmark

Watch = Callable[[Receipt], None]
SHOWN_MISSING = 10


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run."""

    benchmark: Benchmark
    model: Model
    sampling: Sampling = Sampling()
    options: Options = Options()
    limits: Limits | None = None
    """Limits that replaced the tasks' own, for the manifest."""
    partial: bool = False
    ks: Sequence[int] = ()


def evaluate(
    plan: Plan,
    sandbox: Sandbox,
    out: Path | None = None,
    *,
    fresh: bool = False,
    begin: Callable[[int, int, Path], None] = lambda _, __, ___: None,
    watch: Watch = lambda _: None,
) -> Summary:
    """Grade every sample that has no receipt yet, and sum up.

    `begin` hears how many samples there are, how many are done, and where; `watch` sees every
    receipt that is new.
    """
    started = time.monotonic()
    samples = _survey(plan)
    manifest = _manifest(plan, sandbox, samples)
    path = out or default_folder(manifest)
    with RunDirectory(path, manifest, fresh=fresh) as directory:
        done = {(b.task_id, b.sample) for b in read_journal(path / RECEIPTS, Brief)}
        begin(samples, len(done), path)
        grader = Grader(sandbox, plan.options)
        todo = _remaining(plan, directory, done)
        for receipt in grade_all(grader, plan.benchmark, todo, plan.options.workers):
            directory.receipts.append(receipt)
            watch(receipt)
        directory.receipts.sync()
        seed = plan.sampling.seed
        seconds = round(time.monotonic() - started, 3)
        summary = summarize(path, ks=plan.ks, seed=seed, seconds=seconds)
        directory.write_report(summary)
    return summary


def _survey(plan: Plan) -> int:
    """Go through all completions once, so that whatever is wrong with them is said at once."""
    missing = {task.task_id for task in plan.benchmark.tasks}
    samples = 0
    for completion in plan.model.complete(plan.benchmark, plan.sampling):
        missing.discard(completion.task_id)
        samples += 1
    if missing and not plan.partial:
        names = [task.task_id for task in plan.benchmark.tasks if task.task_id in missing]
        more = f" and {len(names) - SHOWN_MISSING} more" if len(names) > SHOWN_MISSING else ""
        raise InputError(
            f"{plan.model.name}: no completion for {len(names)} of {len(plan.benchmark.tasks)} "
            f"tasks ({', '.join(names[:SHOWN_MISSING])}{more}); --partial scores the others"
        )
    if not samples:
        raise InputError(f"{plan.model.name}: there are no completions in it")
    return samples


def _remaining(
    plan: Plan, directory: RunDirectory, done: set[tuple[str, int]]
) -> Iterator[Completion]:
    """Yield completions that have no receipt, each written down before it is graded."""
    recorded = {
        (old.task_id, old.sample) for old in read_journal(directory.path / "completions.jsonl", _Id)
    }
    for completion in plan.model.complete(plan.benchmark, plan.sampling):
        key = (completion.task_id, completion.sample)
        if key not in recorded:
            directory.completions.append(completion)
        if key not in done:
            yield completion


class _Id(msgspec.Struct):
    task_id: str
    sample: int


def _manifest(plan: Plan, sandbox: Sandbox, samples: int) -> Manifest:
    options, rules = plan.options, plan.options.rules
    return Manifest(
        benchmark=plan.benchmark.name,
        benchmark_sha256=plan.benchmark.sha256,
        source=plan.benchmark.source,
        tasks=len(plan.benchmark.tasks),
        samples=samples,
        model=plan.model.name,
        sampling=plan.sampling,
        limits=plan.limits,
        compare=rules.compare,
        early_stop=rules.early_stop,
        max_tests=rules.max_tests,
        extract=options.extract,
        preamble=options.preamble,
        reuse=options.reuse,
        enforcement=sandbox.enforcement(),
        versions=versions(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        host=socket.gethostname(),
    )


def default_folder(manifest: Manifest) -> Path:
    """Return where a run goes if nobody says: runs/BENCHMARK/MODEL/TIME."""
    model = "".join(c if c.isalnum() or c in "._-" else "_" for c in manifest.model)
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    return Path("runs") / manifest.benchmark / model / moment
