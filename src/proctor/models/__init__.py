"""Where completions come from: given ones (`reference`, `wrong`, `recorded:FILE`), or asked for.

`providers.py` has those that can be asked, `generated.py` asks them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from proctor.models.recorded import RecordedSamples
from proctor.models.reference import Reference
from proctor.models.wrong import Wrong
from proctor.records.completion import Completion, Sampling
from proctor.records.task import Benchmark


class RecordedModel(Protocol):
    """Completions that are there already, the same every time."""

    @property
    def name(self) -> str:
        """What the manifest calls it."""
        ...

    def complete(self, benchmark: Benchmark, sampling: Sampling) -> Iterator[Completion]:
        """Answer every task `sampling.n_samples` times, in the order of the benchmark."""
        ...


def recorded_model(name: str) -> RecordedModel | None:
    """Return the completions that PROVIDER:NAME means, None if they have to be asked for."""
    provider, _, rest = name.partition(":")
    if provider == "reference" and not rest:
        return Reference()
    if provider == "wrong" and not rest:
        return Wrong()
    if provider == "recorded" and rest:
        return RecordedSamples(Path(rest))
    return None
