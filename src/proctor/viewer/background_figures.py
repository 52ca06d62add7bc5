"""Compute slow figures, curves and comparisons, in background threads.

A bootstrap over many tasks and a comparison of two runs take too long for one request. A page shows
what is ready and reloads when there is more.
"""

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from queue import SimpleQueue
from typing import Any, TypeVar

import msgspec

from proctor.results.comparison import Comparisons, compare_runs
from proctor.results.pass_at_k import Estimate, estimate
from proctor.viewer.index import CURVE, Index
from proctor.viewer.runs import Standing, Status

T = TypeVar("T")
KS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
PAUSE_SECONDS = 10.0
"""How old the curve of a growing run must be before the next one is made."""
MAX_DRAWN = 20_000
"""Tasks with several samples each that a bootstrap is done for here; `report` does more."""
KEPT = 64


class Point(msgspec.Struct, frozen=True):
    """pass@k for one k."""

    k: int
    estimate: Estimate


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """pass@k over k."""

    version: str
    receipts: int = 0
    """How many there were when it was made."""
    made: float = 0.0
    """When that was, in seconds."""
    points: Sequence[Point] = ()
    whole: bool = True
    """Whether all points are there."""
    note: str = ""
    """Why there is nothing in it, if there is not."""


class BackgroundWorker:
    """Computes figures one after the other in a daemon thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._futures: dict[Hashable, Future[Any]] = {}
        self._queue: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        threading.Thread(target=self._work, name="figures", daemon=True).start()

    def ask(self, key: Hashable, make: Callable[[], T], seconds: float | None) -> T | None:
        """Return the result of `make`; None if it is not done: then ask again with the same key.

        Wait up to `seconds`; None: until it is done. An exception of `make` is raised here.
        """
        with self._lock:
            future = self._futures.get(key)
            if future is None:
                future = self._futures[key] = Future()
                self._queue.put((future, make))
        try:
            made: T = future.result(seconds)
        except NotYet:
            if not future.done():
                return None
            raise
        finally:
            if future.done():
                with self._lock:
                    self._futures.pop(key, None)
        return made

    def _work(self) -> None:
        while True:
            future, make = self._queue.get()
            try:
                future.set_result(make())
            except Exception as error:  # noqa: BLE001  `ask` raises it
                future.set_exception(error)


class BackgroundFigures:
    """Curves and comparisons, cached."""

    def __init__(self) -> None:
        self._curves, self._comparisons = BackgroundWorker(), BackgroundWorker()
        self._compared: dict[Hashable, Comparisons] = {}

    def curve(self, index: Index, status: Status, seconds: float | None) -> Curve | None:
        """Return the newest curve of a run; None while the first one is computed."""
        if status.standing in (Standing.CORRUPT, Standing.READING):
            return Curve(version=status.version, note=status.reason)
        known = stored(index)
        if known is not None:
            grows = status.standing is Standing.RUNNING
            recent = time.time() - known.made < PAUSE_SECONDS
            same = known.version == status.version and known.whole
            if same or (known.whole and grows and recent):
                return known
        made = self._curves.ask(status.run, lambda: make_curve(index, status), seconds)
        return made or stored(index)

    def comparison(self, statuses: Sequence[Status], seconds: float | None) -> Comparisons | None:
        """Return the comparison of runs; None while it is computed."""
        key = tuple((status.run, status.version) for status in statuses)
        known = self._compared.get(key)
        if known is None:
            paths = [status.run.path for status in statuses]
            known = self._comparisons.ask(key, lambda: compare_runs(paths), seconds)
            if known is not None:
                self._compared[key] = known
                if len(self._compared) > KEPT:
                    self._compared.pop(next(iter(self._compared)))
        return known


def stored(index: Index) -> Curve | None:
    """Return the curve that was made last."""
    note = index.note(CURVE)
    return None if note is None else msgspec.json.decode(note, type=Curve)


def make_curve(index: Index, status: Status) -> Curve:
    """Estimate pass@k for every k that all tasks of a run have samples for, point by point."""
    tallies = index.lookup.tallies()
    extent = index.lookup.extent()
    note = ""
    ks = [k for k in KS if k <= extent.min_samples]
    if extent.receipts == extent.unscored:
        note = "no sample is scored" if extent.receipts else "there are no receipts yet"
        ks = []
    elif extent.max_samples > 1 and len(tallies) > MAX_DRAWN:
        note, ks = f"{len(tallies)} tasks are too many to draw from here; see proctor report", []
    known = status.summary.pass_at_k if status.summary is not None else {}
    seed = status.manifest.sampling.seed if status.manifest is not None else 0
    points: list[Point] = []
    for place in range(len(ks) + 1):
        curve = Curve(
            version=status.version,
            receipts=extent.receipts,
            made=time.time(),
            points=points,
            whole=place == len(ks),
            note=note,
        )
        if points or curve.whole:
            index.write_note(CURVE, msgspec.json.encode(curve))
        if not curve.whole:
            k = ks[place]
            points.append(Point(k, known.get(str(k)) or estimate(tallies, k, seed=seed)))
    return curve
