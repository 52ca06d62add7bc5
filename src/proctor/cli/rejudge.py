"""Judge samples of a run again, under a progress bar."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import typer

from proctor.benchmarks import TABLE, load
from proctor.cli import options, setup
from proctor.cli.interrupt import Interrupt
from proctor.cli.messages import INTERRUPTED, complain
from proctor.cli.progress import GradingBar
from proctor.errors import InputError
from proctor.grading.verify import (
    RecordedVerdict,
    Verified,
    choose_samples,
    same_benchmark,
    verify_run,
)
from proctor.records.receipt import Manifest
from proctor.records.task import Benchmark
from proctor.sandbox import Sandbox
from proctor.settings import Settings
from proctor.storage.journal import read_journal
from proctor.storage.run_directory import RECEIPTS


def judge_again(
    run: Path,
    manifest: Manifest,
    open_sandbox: Callable[[Benchmark], Sandbox],
    settings: Settings,
    *,
    data: Path | None,
    workers: int,
    share: float,
    compare: str | None,
    seed: int,
) -> Verified:
    """Choose samples, load what they were judged by, judge them again."""
    before = choose_samples(run, manifest, share, seed)
    benchmark = _same(manifest, next(iter(before.values())), data, settings)
    grading = setup.grading_options(
        workers=workers,
        benchmark=benchmark,
        settings=settings,
        extract=options.Extract(manifest.extract),
        preamble=options.Preamble(manifest.preamble),
        no_reuse=True,
        early_stop=manifest.early_stop,
        compare=comparator_of(manifest, compare),
        max_tests=manifest.max_tests,
    )
    interrupt = Interrupt()
    sandbox = open_sandbox(benchmark)
    try:
        with GradingBar() as bar:
            bar.begin(len(before), 0, run)
            interrupt.listen()
            return verify_run(
                run,
                manifest,
                benchmark,
                before,
                sandbox=sandbox,
                options=grading,
                seed=seed,
                stop=interrupt.stop,
                watch=bar.watch,
            )
    except KeyboardInterrupt:
        complain("interrupted; nothing was changed")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        interrupt.restore()
        sandbox.close()


def benchmark_of(run: Path, manifest: Manifest, data: Path | None, settings: Settings) -> Benchmark:
    """Load what a run was judged by."""
    first = next(read_journal(run / RECEIPTS, RecordedVerdict), None)
    if first is None:
        raise InputError(f"{run}: there is no receipt in it")
    return _same(manifest, first, data, settings)


def _same(
    manifest: Manifest, was: RecordedVerdict, data: Path | None, settings: Settings
) -> Benchmark:
    name, place = source_of(manifest, data)
    return same_benchmark(
        lambda change: load(name, place, setup.data_folder(settings), None, change),
        manifest.limits,
        was,
    )


def source_of(manifest: Manifest, data: Path | None) -> tuple[str, Path | None]:
    """Return what the benchmark is loaded by: name and file, or its file if it has no name."""
    if manifest.benchmark in TABLE:
        return manifest.benchmark, data or Path(manifest.source)
    return str(data or manifest.source), None


def comparator_of(manifest: Manifest, asked: str | None) -> str | None:
    """Return the comparator of that time; a checker is known by its digest only."""
    then = manifest.compare
    if then is None or not then.startswith("checker "):
        if asked is not None and asked != then:
            raise InputError(f"--compare {asked}: the run was judged by {then or 'its tasks own'}")
        return then
    if asked is None or not asked.startswith("checker:"):
        raise InputError("the run was judged by a checker; name its file by --compare checker:FILE")
    code = setup.read_checker(asked.removeprefix("checker:"))
    digest = hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()
    if then != f"checker {digest}":
        raise InputError(f"--compare {asked}: it is not the checker that the run was judged by")
    return asked
