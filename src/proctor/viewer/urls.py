"""Where pages are: addresses of the server, or files of an export."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import urlencode


class Links(Protocol):
    """Where the pages are; None for one that there is not."""

    static: bool
    """Whether pages are files, which cannot be asked anything."""

    @property
    def left_out(self) -> Sequence[str]:
        """What there is no page of, though it is there."""
        ...

    @property
    def comparisons(self) -> Sequence[tuple[str, ...]]:
        """Runs that have been laid side by side beforehand."""
        ...

    def asset(self, name: str) -> str:
        """Our script or style sheet."""
        ...

    def home(self) -> str:
        """All runs."""
        ...

    def watched(self) -> str | None:
        """How checkpoints stand that are watched."""
        ...

    def run(self, run: str, **query: str | int) -> str | None:
        """One run; `query` chooses what is listed there."""
        ...

    def sample(self, run: str, task: str, sample: int) -> str | None:
        """One sample."""
        ...

    def diff(self, run: str, task: str, sample: int, other: int, against: str = "") -> str | None:
        """Two samples of one task side by side, the other one of the run `against` if named."""
        ...

    def compare(self, runs: Sequence[str]) -> str | None:
        """Several runs side by side."""
        ...


class Served:
    """Addresses of the server."""

    static = False
    left_out: Sequence[str] = ()
    comparisons: Sequence[tuple[str, ...]] = ()

    def asset(self, name: str) -> str:
        """See Links."""
        return f"/static/{name}"

    def home(self) -> str:
        """See Links."""
        return "/"

    def watched(self) -> str | None:
        """See Links."""
        return "/watch"

    def run(self, run: str, **query: str | int) -> str | None:
        """See Links."""
        return _address("/run", {"run": run, **query})

    def sample(self, run: str, task: str, sample: int) -> str | None:
        """See Links."""
        return _address("/sample", {"run": run, "task": task, "sample": sample})

    def diff(self, run: str, task: str, sample: int, other: int, against: str = "") -> str | None:
        """See Links."""
        query = {"run": run, "task": task, "sample": str(sample), "other": str(other)}
        return _address("/diff", {**query, "against": against})

    def compare(self, runs: Sequence[str]) -> str | None:
        """See Links."""
        return _address("/compare", {"run": runs})


def _address(path: str, query: Mapping[str, str | int | Sequence[str]]) -> str:
    kept = {name: value for name, value in query.items() if value not in ("", [])}
    return f"{path}?{urlencode(kept, doseq=True, errors='backslashreplace')}"
