"""All runs below a folder, the oldest first, each shown for what it is."""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from proctor.errors import InputError, ProctorError
from proctor.records.receipt import Manifest
from proctor.results.pass_at_k import Estimate
from proctor.results.summary import Summary, summarize
from proctor.storage.jsonl import explain_error, read_whole
from proctor.storage.run_directory import MANIFEST, REPORT, read_manifest

DEEPEST = 8
MAX_RUNS = 100_000


class PastRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of many."""

    run_dir: str
    created: str = ""
    benchmark: str = ""
    model: str = ""
    strategy: str = ""
    n_samples: int = 0
    state: str
    """`complete`, `degraded`, `unfinished`, `empty` or `damaged`."""
    why: str = ""
    """What is wrong with it, if something is."""
    tasks: int = 0
    samples: int = 0
    passed: int = 0
    unscored: int = 0
    pass_at_k: dict[str, Estimate] = {}


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of a folder."""

    folder: str
    runs: list[PastRun]
    schema: int = 1


def read_history(folder: Path, *, benchmark: str = "", model: str = "", since: str = "") -> History:
    """Find all runs below a folder; those of other benchmarks, models or times are left out."""
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; runs are kept below runs/ by default")
    runs = [
        run
        for run in map(look, find_runs(folder))
        if run.state == "damaged"
        or (
            benchmark in ("", run.benchmark)
            and model.lower() in run.model.lower()
            and run.created >= since
        )
    ]
    return History(
        folder=str(folder), runs=sorted(runs, key=lambda run: (run.created, run.run_dir))
    )


def find_runs(folder: Path) -> Iterator[Path]:
    """Yield the folders below one that hold a manifest, no link followed."""
    found = 0
    top = len(folder.parts)
    for place, below, files in os.walk(folder):
        path = Path(place)
        below.sort()
        if MANIFEST in files:
            found += 1
            if found > MAX_RUNS:
                raise InputError(f"{folder}: more than {MAX_RUNS} runs; name a folder below it")
            below.clear()
            yield path
        elif len(path.parts) - top >= DEEPEST:
            below.clear()


def look(run_dir: Path) -> PastRun:
    """Return what is known of a run; whatever is wrong with it, it is listed."""
    try:
        manifest = read_manifest(run_dir)
        summary = _summary(run_dir)
    except ProctorError as error:
        return PastRun(run_dir=str(run_dir), state="damaged", why=str(error))
    return _past(run_dir, manifest, summary)


def _past(run_dir: Path, manifest: Manifest, summary: Summary) -> PastRun:
    state, why = "complete", ""
    if not summary.samples:
        state, why = "empty", "no sample has a receipt"
    elif not summary.complete:
        state, why = "unfinished", f"{summary.samples} of {manifest.samples} samples are graded"
    elif summary.degraded:
        state, why = "degraded", f"{summary.unscored} samples are unscored"
    return PastRun(
        run_dir=str(run_dir),
        created=manifest.created,
        benchmark=manifest.benchmark,
        model=manifest.model,
        strategy=manifest.strategy,
        n_samples=manifest.sampling.n_samples,
        state=state,
        why=why,
        tasks=summary.tasks,
        samples=summary.samples,
        passed=summary.passed,
        unscored=summary.unscored,
        pass_at_k=summary.pass_at_k,
    )


def _summary(run_dir: Path) -> Summary:
    """Read a run's report, or sum up what there is of a run that has none yet."""
    report = run_dir / REPORT
    if not report.is_file():
        return summarize(run_dir)
    try:
        return msgspec.json.decode(read_whole(report), type=Summary)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{report} is not the report of a run: {explain_error(error)}") from None
