"""The runs below a folder, and how each stands: never better than it is, and with the reason."""

import threading
import time
from enum import StrEnum
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

import msgspec

from proctor.errors import HostError, InputError, ProctorError
from proctor.records.encoding import spelt_out
from proctor.records.receipt import Manifest
from proctor.results.history import find_runs
from proctor.results.pass_at_k import Estimate
from proctor.results.summary import Summary
from proctor.storage.jsonl import read_whole
from proctor.storage.run_directory import COMPLETIONS, MANIFEST, RECEIPTS, REPORT, read_manifest
from proctor.viewer.index import Index, Progress
from proctor.viewer.index_queries import Extent

MAX_RUNS = 2000
FRESH_SECONDS = 2.0
"""How long a look at the folder is good for."""
TURN_SECONDS = 0.1
MAX_OPEN = 64
"""Indexes that are held open at once."""
LOCKS = Path("/proc/locks")
RECENT_SECONDS = 60.0


NOTHING = Extent(0, 0, 0, 0, 0, 0, 0)


class Standing(StrEnum):
    """How far a run has come."""

    COMPLETE = "complete"
    READING = "reading"
    """Nobody knows yet: its files are being read."""
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    UNREADABLE = "unreadable"
    """Nobody knows: this machine does not let us read it."""
    CORRUPT = "corrupt"


UNSETTLED = (Standing.READING, Standing.RUNNING, Standing.INTERRUPTED, Standing.UNREADABLE)
"""These may change though no file does."""
Facts = tuple[tuple[int, int], ...]


class Run(NamedTuple):
    """One run below the folder."""

    name: str
    """Its path below the folder; how pages address it."""
    path: Path


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to say of a run before any of its samples is looked at."""

    run: Run
    standing: Standing
    reason: str = ""
    """Why it is not complete or not to be trusted, as a sentence; empty if it is fine."""
    manifest: Manifest | None = None
    summary: Summary | None = None
    """The run's own report, if it is complete and the report goes with the receipts."""
    extent: Extent = NOTHING
    settled: bool = True
    """Whether all of the run's files have been read."""
    share: float = 1.0
    version: str = ""

    @property
    def degraded(self) -> bool:
        """Whether something is missing."""
        return self.standing is not Standing.COMPLETE or self.extent.unscored > 0

    @property
    def headline(self) -> Estimate | None:
        """pass@1 as the run's own report has it."""
        return self.summary.pass_at_k.get("1") if self.summary is not None else None


class RunCatalog:
    """Finds runs and keeps their indexes; safe for use by several threads."""

    def __init__(self, folder: Path, cache: Path | None) -> None:
        if not folder.is_dir():
            raise InputError(f"{folder} is no folder; name one that holds runs")
        self.folder, self._cache = folder, cache
        self.cut = False
        """Whether there are more runs than are shown."""
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._looked = float("-inf")
        self._indexes: dict[str, tuple[int, Index]] = {}
        self._known: dict[str, tuple[Facts, Status]] = {}
        self._behind: SimpleQueue[Index] = SimpleQueue()
        self._waiting: set[Index] = set()
        threading.Thread(target=self._catch_up, name="reader", daemon=True).start()

    def runs(self) -> dict[str, Run]:
        """Return all runs by name."""
        with self._lock:
            if time.monotonic() - self._looked > FRESH_SECONDS:
                found = list(islice(find_runs(self.folder), MAX_RUNS + 1))
                self.cut = len(found) > MAX_RUNS
                runs = (Run(_name(path, self.folder), path) for path in found[:MAX_RUNS])
                self._runs = {run.name: run for run in runs}
                self._looked = time.monotonic()
            return self._runs

    def run(self, name: str) -> Run:
        """Return one run; a name that is none of ours leads nowhere."""
        run = self.runs().get(name)
        if run is None:
            raise InputError(f"there is no run {name!r} below {self.folder}")
        return run

    def index(self, run: Run, manifest: Manifest) -> Index:
        """Return the index of a run; it may not be up to date."""
        with self._lock:
            samples, index = self._indexes.pop(run.name, (None, None))
            if index is None or samples != manifest.samples:
                index = Index(run.path, manifest.samples, self._cache)
            self._indexes[run.name] = manifest.samples, index
            if len(self._indexes) > MAX_OPEN:  # whoever still uses it closes it by letting go
                self._indexes.pop(next(iter(self._indexes)))
            return index

    def _catch_up(self) -> None:
        """Read what no page had the time to wait for, in turns with those who look at it."""
        while True:
            index = self._behind.get()
            try:
                while not index.update(TURN_SECONDS).settled:
                    time.sleep(TURN_SECONDS / 10)
            except Exception:  # noqa: BLE001, S110  whoever looks at the run is told, too
                pass
            self._waiting.discard(index)

    def statuses(self, seconds: float) -> list[Status]:
        """Say how all runs stand, having read their files for about so long together."""
        until = time.monotonic() + seconds
        found = []
        for run in self.runs().values():
            facts = _facts(run.path)
            known = self._known.get(run.name)
            if known is None or known[0] != facts or known[1].standing in UNSETTLED:
                left = max(0.0, until - time.monotonic())
                known = self._known[run.name] = facts, self.status(run, left)
            found.append(known[1])
        return found

    def status(self, run: Run, seconds: float) -> Status:
        """Say how a run stands, having read its files for about so long."""
        try:
            manifest = read_manifest(run.path)
            index = self.index(run, manifest)
            progress = index.update(seconds)
        except ProctorError as error:
            ours = isinstance(error, HostError) or isinstance(error.__cause__, OSError)
            standing = Standing.UNREADABLE if ours else Standing.CORRUPT
            return Status(run=run, standing=standing, reason=str(error))
        if not progress.settled and index not in self._waiting:
            self._waiting.add(index)
            self._behind.put(index)
        extent = index.lookup.extent()
        standing, reason = _standing(run, manifest, index, progress, extent.receipts)
        if extent.unscored:
            reason = "; ".join(filter(None, [reason, UNSCORED.format(extent.unscored)]))
        return Status(
            run=run,
            standing=standing,
            reason=reason,
            manifest=manifest,
            summary=_summary(run, extent) if standing is Standing.COMPLETE else None,
            extent=extent,
            settled=progress.settled,
            share=progress.share,
            version=f"{progress.version}-{standing}",
        )


UNSCORED = "{} samples are unscored: nothing is known about them, they are not wrong"


def _standing(
    run: Run, manifest: Manifest, index: Index, progress: Progress, receipts: int
) -> tuple[Standing, str]:
    if progress.damaged:
        first = index.lookup.damage()[0]
        more = f", and {progress.damaged - 1} more lines" if progress.damaged > 1 else ""
        what = f"{first.file}, line {first.line}: {first.reason}{more}"
        return Standing.CORRUPT, f"{what}; no score can be made of what is left"
    if not progress.settled:
        return Standing.READING, f"its files are being read: {progress.share:.0%}"
    if receipts == manifest.samples:
        return Standing.COMPLETE, ""
    missing = f"{receipts} of {manifest.samples} samples have a receipt"
    if _is_held(run.path):
        return Standing.RUNNING, f"{missing} so far"
    return Standing.INTERRUPTED, f"{missing}; the same command with --out goes on from there"


def _name(path: Path, folder: Path) -> str:
    """Name a run by its path; bytes that are no text are spelt out."""
    below = path.relative_to(folder).as_posix()
    return str(spelt_out(below if below != "." else path.resolve().name))


def _facts(path: Path) -> Facts:
    """Return by what one can tell that a run has not changed."""
    found = []
    for name in (MANIFEST, RECEIPTS, COMPLETIONS, REPORT):
        try:
            facts = (path / name).stat()
        except OSError:
            found.append((0, 0))
        else:
            found.append((facts.st_size, facts.st_mtime_ns))
    return tuple(found)


def _is_held(path: Path) -> bool:
    """Say whether a process holds the lock of a run, without taking it even for a moment."""
    try:
        inode = str(path.stat().st_ino)
        lines = LOCKS.read_text().splitlines()
    except OSError:  # no such list here: whoever wrote a moment ago is taken to go on
        return time.time() - _touched(path / RECEIPTS) < RECENT_SECONDS
    held = (line.split() for line in lines if "FLOCK" in line and "WRITE" in line)
    return any(place.rpartition(":")[2] == inode for words in held for place in words)


def _touched(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _summary(run: Run, extent: Extent) -> Summary | None:
    """Return a run's own report, None if there is none that goes with its receipts."""
    try:
        summary = msgspec.json.decode(read_whole(run.path / REPORT), type=Summary)
    except (ProctorError, ValueError, RecursionError):
        return None
    said = summary.samples, summary.passed, summary.unscored
    return summary if said == (extent.receipts, extent.passed, extent.unscored) else None
