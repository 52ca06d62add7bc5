"""Which benchmarks are in rotation: those that kept their contract here, not too long ago."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from proctor.benchmarks import load
from proctor.checks.contract.result_store import why_not
from proctor.records.task import Benchmark
from proctor.settings import Settings
from proctor.watch.config import Config


class Rotation:
    """The benchmarks of a watcher, loaded once."""

    def __init__(self, config: Config, settings: Settings) -> None:
        self._within = timedelta(days=config.contract_days)
        self.benchmarks: dict[str, Benchmark] = {
            name: load_benchmark(name, config.data, settings) for name in config.benchmarks
        }

    def look(self) -> Mapping[str, str]:
        """Say of each benchmark why it is not in rotation; an empty reason is none."""
        return {name: why_not(one, name, self._within) for name, one in self.benchmarks.items()}


def load_benchmark(name: str, data: str | None, settings: Settings) -> Benchmark:
    """Load a benchmark as the configuration names it."""
    folder = data or settings.data
    return load(name, None, None if folder is None else Path(folder))
