"""Where completions come from: `reference`, `wrong`, `recorded:FILE`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from proctor.completion import Completion, Sampling
from proctor.errors import InputError
from proctor.models.recorded import Recorded
from proctor.models.reference import Reference
from proctor.models.wrong import Wrong
from proctor.task import Benchmark

KNOWN = ("reference", "wrong", "recorded:FILE")


class Model(Protocol):
    """Something that answers prompts."""

    @property
    def name(self) -> str:
        """What the manifest calls it."""
        ...

    def complete(self, benchmark: Benchmark, sampling: Sampling) -> Iterator[Completion]:
        """Answer every task `sampling.n_samples` times, in the order of the benchmark."""
        ...


def open_model(name: str) -> Model:
    """Return the model that PROVIDER:NAME means."""
    provider, _, rest = name.partition(":")
    if provider == "reference" and not rest:
        return Reference()
    if provider == "wrong" and not rest:
        return Wrong()
    if provider == "recorded" and rest:
        return Recorded(Path(rest))
    raise InputError(f"--model {name}: no such provider; known are {', '.join(KNOWN)}")
