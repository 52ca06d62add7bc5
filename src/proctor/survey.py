"""What there is to grade: how many samples each task has, and a digest of all of them in order.

To go through a million samples takes a while, and a run that goes on should not begin with it. So
what was found in a long file is kept until the file is another one. In it are marks: how far one
is, and the digest up to there. Samples that a run has written down already, just as they were
found, are passed over up to the last mark. Nobody relies on what was kept alone: when all has been
graded, the digest of what was graded is compared with this one.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from proctor.cache import Cache
from proctor.completion import Completion, Sampling
from proctor.journal import Belongs, Key, Samples, read_places
from proctor.lines import Line, encode
from proctor.models import Given
from proctor.models.recorded import Begin, Recorded
from proctor.task import Benchmark

NAME = "surveys"
WORTH_KEEPING = 20_000
"""How many samples take longer to count than to look up."""
STEP = 10_000
"""How many samples are between two marks at the least."""


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """A place between two lines of a file."""

    samples: int
    """How many are before it."""
    sha256: str
    """Of those."""
    line: int
    offset: int


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in completions that are there already."""

    counts: dict[str, int]
    """How many samples each task has, if it has any."""
    sha256: str
    marks: Sequence[Mark] = ()


def survey(model: Given, benchmark: Benchmark, sampling: Sampling) -> Survey:
    """Go through all completions once, so that whatever is wrong with them is said at once."""
    key = _key(model, benchmark)
    known = None if key is None else Cache(NAME).get(key)
    if known:
        return msgspec.json.decode(known, type=Survey)
    digest = hashlib.sha256()
    counts: Counter[str] = Counter()
    marks: list[Mark] = []
    total = 0
    before: Line | None = None
    for line, completion in _completions(model, benchmark, sampling):
        due = total >= STEP * (len(marks) + 1)
        if due and line is not before and line is not None and line.place is not None:
            marks.append(Mark(total, digest.hexdigest(), line.number - 1, line.place[0]))
        counts[completion.task_id] += 1
        total += 1
        digest.update(encode(completion) + b"\n")
        before = line
    found = Survey(counts=dict(counts), sha256=digest.hexdigest(), marks=marks)
    if key is not None and total >= WORTH_KEEPING:
        Cache(NAME).put(key, msgspec.json.encode(found))
    return found


def _completions(
    model: Given, benchmark: Benchmark, sampling: Sampling
) -> Iterator[tuple[Line | None, Completion]]:
    if isinstance(model, Recorded):
        return iter(model.completions(benchmark))
    return ((None, completion) for completion in model.complete(benchmark, sampling))


def forget(model: Given, benchmark: Benchmark) -> None:
    """Do not rely on what was kept any more."""
    key = _key(model, benchmark)
    if key is not None:
        Cache(NAME).put(key, b"")


def _key(model: Given, benchmark: Benchmark) -> str | None:
    """Return what a survey is kept by, None if it is not worth it."""
    stamp = model.stamp() if isinstance(model, Recorded) else None
    if stamp is None:
        return None
    parts = (metadata.version("proctor"), benchmark.name, benchmark.sha256, stamp)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


class Copied:
    """The completions that a run has written down, and how many of them need not be read again."""

    def __init__(self, path: Path, belongs: Belongs, marks: Sequence[Mark], done: Samples) -> None:
        """Look at a journal; `done` are those that have been graded."""
        self.samples = Samples()
        """All of them."""
        self.passed = 0
        """How many of the first ones are just as they were found."""
        self.undone = 0
        """How many of those have not been graded."""
        self.digest: Any = hashlib.sha256()
        """Of those."""
        self._begin: Begin | None = None
        if path.exists():
            self._read(path, belongs, marks, done)

    def _read(self, path: Path, belongs: Belongs, marks: Sequence[Mark], done: Samples) -> None:
        undone = 0
        counts: Counter[str] = Counter()
        due = iter(marks)
        mark = next(due, None)
        digest = self.digest.copy()
        with path.open("rb") as file:
            for number, (place, key) in enumerate(read_places(path, Key, belongs)):
                if mark is not None and number == mark.samples:
                    digest.update(file.read(place - file.tell()))
                    if digest.hexdigest() == mark.sha256:
                        self.passed, self.undone = number, undone
                        self.digest = digest.copy()
                        self._begin = Begin(mark.line, mark.offset, dict(counts))
                    mark = next(due, None)
                counts[key.task_id] += 1
                undone += (key.task_id, key.sample) not in done
                self.samples.add(key.task_id, key.sample)

    def rest(self, model: Given, benchmark: Benchmark, sampling: Sampling) -> Iterator[Completion]:
        """Yield the completions behind those."""
        if self._begin is None or not isinstance(model, Recorded):
            return model.complete(benchmark, sampling)
        return (completion for _, completion in model.completions(benchmark, self._begin))
