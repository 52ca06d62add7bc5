"""Estimates for the pages, made beside the requests and kept with the index.

A bootstrap over many tasks takes a while; no page waits for it.
"""

import threading
import time
from collections.abc import Sequence
from queue import SimpleQueue

import msgspec

from proctor.score import Estimate, Tally, estimate
from proctor.viewer.catalogue import Standing, Status
from proctor.viewer.index import CURVE, Index

KS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
WAIT_SECONDS = 0.3
"""How long a page waits for figures that it has none of yet."""
PAUSE_SECONDS = 10.0
"""How long after one curve of a growing run the next one may be begun."""
MOST_DRAWN = 20_000
"""Tasks with several samples each that a bootstrap here is done for; `report` does more."""


class Point(msgspec.Struct, frozen=True):
    """pass@k for one k."""

    k: int
    estimate: Estimate


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """pass@k over k."""

    version: str
    receipts: int
    """How many there were when it was made."""
    points: Sequence[Point]
    note: str = ""
    """Why there is nothing in it, if there is not."""


class Figures:
    """Makes curves, one after the other, in a thread of its own that ends with the process."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[tuple[Index, Status]] = SimpleQueue()
        self._begun: dict[str, float] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._work, name="figures", daemon=True).start()

    def curve(self, index: Index, status: Status) -> Curve | None:
        """Return the newest curve of a run that there is, None if there will be one."""
        if status.standing is Standing.CORRUPT:
            return Curve(version=status.version, receipts=0, points=(), note=status.reason)
        known = stored(index)
        if known is not None and known.version == status.version:
            return known
        if not self._ask(index, status) or known is not None:
            return known
        until = time.monotonic() + WAIT_SECONDS
        while known is None and time.monotonic() < until:
            time.sleep(0.02)
            known = stored(index)
        return known

    def _ask(self, index: Index, status: Status) -> bool:
        """Put a run into the queue, unless it has been there a moment ago."""
        with self._lock:
            now = time.monotonic()
            if now - self._begun.get(status.run.name, float("-inf")) < PAUSE_SECONDS:
                return False
            self._begun[status.run.name] = now
        self._queue.put((index, status))
        return True

    def _work(self) -> None:
        while True:
            index, status = self._queue.get()
            try:
                curve = make_curve(index, status)
            except Exception as error:  # noqa: BLE001  this thread serves all runs
                why = f"the figures could not be made: {error}"
                curve = Curve(version=status.version, receipts=0, points=(), note=why)
            index.write_note(CURVE, msgspec.json.encode(curve))
            with self._lock:
                self._begun[status.run.name] = time.monotonic()


def stored(index: Index) -> Curve | None:
    """Return the curve that was made last."""
    note = index.note(CURVE)
    return None if note is None else msgspec.json.decode(note, type=Curve)


def make_curve(index: Index, status: Status) -> Curve:
    """Estimate pass@k for every k that all tasks of a run have samples for."""
    tallies = index.lookup.tallies()
    extent = index.lookup.extent()
    note = ""
    ks = [k for k in KS if k <= extent.fewest]
    if extent.receipts == extent.unscored:
        note = "no sample is scored yet" if extent.receipts else "there are no receipts yet"
        ks = []
    elif extent.most > 1 and len(tallies) > MOST_DRAWN:
        note, ks = f"{len(tallies)} tasks are too many to draw from here; see proctor report", []
    known = status.summary.pass_at_k if status.summary is not None else {}
    seed = status.manifest.sampling.seed if status.manifest is not None else 0
    points = [Point(k, known.get(str(k)) or estimate(tallies, k, seed=seed)) for k in ks]
    return Curve(version=status.version, receipts=extent.receipts, points=points, note=note)


def scores(tallies: Sequence[Tally]) -> dict[str, float]:
    """Return the share of each task's scored samples that passed."""
    return {tally.task_id: tally.passed / tally.scored for tally in tallies if tally.scored}
