"""What there is to grade: how many samples each task has, and a digest of all of them in order.

To go through a million samples takes a while, and a run that goes on should not begin with it. So
what was found in a long file is kept until the file is another one. Nobody relies on that alone:
when all has been graded, the digest of what was graded is compared with this one.
"""

import hashlib
from collections import Counter
from importlib import metadata

import msgspec

from proctor.cache import Cache
from proctor.completion import Sampling
from proctor.lines import encode
from proctor.models import Given
from proctor.models.recorded import Recorded
from proctor.task import Benchmark

NAME = "surveys"
WORTH_KEEPING = 20_000
"""How many samples take longer to count than to look up."""


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in completions that are there already."""

    counts: dict[str, int]
    """How many samples each task has, if it has any."""
    sha256: str


def survey(model: Given, benchmark: Benchmark, sampling: Sampling) -> Survey:
    """Go through all completions once, so that whatever is wrong with them is said at once."""
    key = _key(model, benchmark)
    known = None if key is None else Cache(NAME).get(key)
    if known:
        return msgspec.json.decode(known, type=Survey)
    digest = hashlib.sha256()
    counts: Counter[str] = Counter()
    for completion in model.complete(benchmark, sampling):
        counts[completion.task_id] += 1
        digest.update(encode(completion) + b"\n")
    found = Survey(counts=dict(counts), sha256=digest.hexdigest())
    if key is not None and counts.total() >= WORTH_KEEPING:
        Cache(NAME).put(key, msgspec.json.encode(found))
    return found


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
