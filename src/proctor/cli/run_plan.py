"""Carry out a plan under a progress bar, print what came of it, and leave with its status."""

import gc
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import typer

from proctor.cli.interrupt import Interrupt
from proctor.cli.messages import INTERRUPTED, complain
from proctor.cli.progress import GradingBar
from proctor.errors import HostError, InputError
from proctor.grading.engine import Backend
from proctor.grading.evaluate import Plan, create_run_folder, evaluate
from proctor.report import json as as_json
from proctor.report import receipts as some_receipts
from proctor.report import text
from proctor.results.agreement import (
    Agreement,
    Recordings,
    agreement_lines,
    compare_with_recordings,
)
from proctor.results.summary import Summary, summarize_suite
from proctor.storage.journal import GO_ON

DEGRADED = 1


def run_and_exit(
    plan: Plan,
    backend: Backend,
    out: Path | None,
    *,
    fresh: bool,
    json: bool,
    recorded: Recordings | None = None,
    show: int = 0,
    min_agreement: float | None = None,
    receipts: int = 0,
) -> None:
    """Run, print, exit; `show` and `receipts` say how many differences and receipts are shown."""
    summary = carry_out(plan, backend, out, fresh=fresh)
    agreement = (
        None if recorded is None else compare_with_recordings(Path(summary.run_dir), recorded)
    )
    _print(summary, agreement, json=json, show=show)
    _show_receipts([summary], 0 if json else receipts)
    too_low = agreement is not None and min_agreement is not None and agreement.rate < min_agreement
    if summary.degraded or too_low:
        raise typer.Exit(DEGRADED)


def run_suite_and_exit(
    suite: str,
    plans: Sequence[Plan],
    open_backend: Callable[[Plan], Backend],
    out: Path | None,
    *,
    fresh: bool,
    json: bool,
    receipts: int = 0,
) -> None:
    """Run one benchmark after the other, print one summary, exit."""
    names = [plan.benchmark.name for plan in plans]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{suite}: two of them are called {name}")
    folder = out or create_run_folder(
        suite.replace(",", "_").replace("/", "_"), plans[0].model.name
    )
    parts = [
        carry_out(plan, open_backend(plan), folder / plan.benchmark.name, fresh=fresh, again=folder)
        for plan in plans
    ]
    first = plans[0]
    summary = summarize_suite(suite, folder, parts, ks=first.ks, seed=first.sampling.seed)
    typer.echo(as_json.render(summary) if json else text.render_suite(summary), nl=json)
    _show_receipts(parts, 0 if json else receipts)
    if summary.degraded:
        raise typer.Exit(DEGRADED)


def _show_receipts(summaries: Sequence[Summary], count: int) -> None:
    for summary in summaries if count else ():
        typer.echo(some_receipts.render(Path(summary.run_dir), count), nl=False)


def carry_out(
    plan: Plan,
    backend: Backend,
    out: Path | None,
    *,
    fresh: bool = False,
    again: Path | None = None,
) -> Summary:
    """Run; a first Ctrl-C finishes and saves what runs, a second one stops now.

    `again` is the --out that goes on, if it is not that of the run.
    """
    place, begun = out, False
    interrupt = Interrupt()
    try:
        with GradingBar() as bar:

            def begin(total: int, done: int, path: Path) -> None:
                nonlocal place, begun
                place, begun = path, True
                bar.begin(total, done, path)
                interrupt.listen()
                gc.freeze()  # tasks stay to the end and need not be looked at again and again

            summary = evaluate(
                plan,
                backend,
                out,
                fresh=fresh,
                stop=interrupt.stop,
                begin=begin,
                watch=bar.watch,
            )
    except HostError as error:
        more = "" if GO_ON in str(error) or not begun else f"; {GO_ON}"
        raise HostError(f"{error}{more}") from error
    except KeyboardInterrupt:
        if not begun:
            raise
        where = shlex.quote(str(again or place))
        less = "without --fresh and " if fresh else ""
        said = f"interrupted; the same command {less}with --out {where} goes on"
        complain(said)
        if interrupt.now:
            sys.stderr.flush()
            os._exit(INTERRUPTED)  # threads still wait for candidates, which end with us
        raise typer.Exit(INTERRUPTED) from None
    finally:
        interrupt.restore()
        backend.close()
    for task_id, why in summary.unfit.items():
        complain(f"{plan.benchmark.where(task_id)}: {why}; its samples are unscored")
    return summary


def _print(summary: Summary, agreement: Agreement | None, *, json: bool, show: int) -> None:
    if json:
        whole = msgspec.to_builtins(summary)
        if agreement is not None:
            whole["agreement"] = {**msgspec.to_builtins(agreement), "rate": agreement.rate}
        typer.echo(as_json.render(whole))
        return
    typer.echo(text.render(summary), nl=False)
    if agreement is not None:
        typer.echo("")
        for line in agreement_lines(agreement, show):
            typer.echo("  " + text.printable(line))
