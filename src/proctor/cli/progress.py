"""A bar on stderr: how many are done, how fast, how they came out, how long it will take."""

import sys
import time
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from proctor.records.completion import Completion
from proctor.records.receipt import Receipt
from proctor.records.verdict import Outcome

SHORT = {
    Outcome.PASS: "pass",
    Outcome.ASSERTION_FAIL: "fail",
    Outcome.SYNTAX_ERROR: "syntax",
    Outcome.TIMEOUT: "timeout",
    Outcome.ERROR: "error",
}
REDRAW_SECONDS = 0.1
"""Thousands of receipts a second are not worth a picture each."""


class GradingBar:
    """Shows a run in progress; quiet where stderr is no terminal."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[outcomes]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
            transient=True,
        )
        self._task = self._progress.add_task("grading", total=None, rate="", outcomes="")
        self._counts: Counter[str] = Counter()
        self._done = 0
        self._shown = 0.0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._show()
        self._progress.stop()

    def begin(self, total: int, done: int, path: Path) -> None:
        """Learn how much there is to do, and where it is written."""
        del path
        self._done = done
        self._progress.update(self._task, total=total, completed=done)

    def watch(self, receipt: Receipt) -> None:
        """Count one receipt."""
        self._counts["unscored" if receipt.outcome is None else SHORT[receipt.outcome]] += 1
        self._done += 1
        if time.monotonic() >= self._shown + REDRAW_SECONDS:
            self._show()

    def _show(self) -> None:
        self._shown = time.monotonic()
        speed = self._progress.tasks[0].speed
        self._progress.update(
            self._task,
            completed=self._done,
            rate="" if speed is None else f"{speed:.0f}/s",
            outcomes=" ".join(f"{word} {n}" for word, n in self._counts.most_common()),
        )


class StepBar:
    """A bar for work that only counts; quiet where stderr is no terminal."""

    def __init__(self, what: str, total: int) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
            transient=True,
        )
        self._task = self._progress.add_task(what, total=total)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def step(self) -> None:
        """Count one."""
        self._progress.advance(self._task)


class ContractBar:
    """A bar for a contract: which line is looked at, and how many answers were judged for it."""

    def __init__(self, total: int) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[judged]}"),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
            transient=True,
        )
        self._task = self._progress.add_task("contract", total=total, judged="")
        self._judged = 0
        self._lines = -1

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begin(self, line: str) -> None:
        """Learn which line is next."""
        self._judged = 0
        self._lines += 1
        self._progress.update(self._task, description=line, completed=self._lines, judged="")

    def watch(self, receipt: Receipt) -> None:
        """Count one answer."""
        del receipt
        self._judged += 1
        self._progress.update(self._task, judged=f"{self._judged} judged")


class AnswerBar:
    """A bar for a model that is asked: how many answers there are, and tokens a second."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
            transient=True,
        )
        self._task = self._progress.add_task("asking", total=None, rate="")
        self._began = time.monotonic()
        self._tokens = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begin(self, total: int, done: int) -> None:
        """Learn how much there is to do."""
        self._began = time.monotonic()
        self._progress.update(self._task, total=total, completed=done)

    def watch(self, completion: Completion) -> None:
        """Count one answer."""
        self._tokens += completion.completion_tokens or 0
        rate = self._tokens / max(time.monotonic() - self._began, REDRAW_SECONDS)
        self._progress.update(self._task, advance=1, rate=f"{rate:.0f} tokens/s")
