"""Where completions come from: given ones (`reference`, `wrong`, `recorded:FILE`), or asked for.

`providers.py` has those that can be asked, `generated.py` asks them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from proctor.completion import Completion, Sampling
from proctor.models.recorded import Recorded
from proctor.models.reference import Reference
from proctor.models.wrong import Wrong
from proctor.task import Benchmark


class Given(Protocol):
    """Completions that are there already, the same every time."""

    @property
    def name(self) -> str:
        """What the manifest calls it."""
        ...

    def complete(self, benchmark: Benchmark, sampling: Sampling) -> Iterator[Completion]:
        """Answer every task `sampling.n_samples` times, in the order of the benchmark."""
        ...


def given(name: str) -> Given | None:
    """Return the completions that PROVIDER:NAME means, None if they have to be asked for."""
    provider, _, rest = name.partition(":")
    if provider == "reference" and not rest:
        return Reference()
    if provider == "wrong" and not rest:
        return Wrong()
    if provider == "recorded" and rest:
        return Recorded(Path(rest))
    return None
