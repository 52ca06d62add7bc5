"""What a watcher is told: one TOML file."""

import shlex
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from proctor.errors import InputError
from proctor.models.prompting import Strategy
from proctor.models.providers import GROUP, KNOWN, PROVIDERS
from proctor.plugins import load_plugins
from proctor.records.completion import Sampling
from proctor.records.execution import Tier
from proctor.settings import MAX_WORKERS
from proctor.storage.jsonl import explain_error, parse_toml, read_whole

MAX_BYTES = 1 << 20
PLACE = "{checkpoint}"
"""Where the path of a checkpoint goes in the name of a model."""
MAX_COUNT = 1 << 20

Seconds = Annotated[float, msgspec.Meta(gt=0, le=30 * 86400)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]


class Draws(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a model is asked; see `Sampling`."""

    n_samples: Annotated[int, msgspec.Meta(ge=1, le=MAX_COUNT)] = 1
    temperature: Annotated[float, msgspec.Meta(ge=0, le=10)] = 0.0
    top_p: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None
    top_k: Annotated[int, msgspec.Meta(ge=0)] | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1, le=MAX_COUNT)] = 1024
    seed: Annotated[int, msgspec.Meta(ge=0, le=1 << 31)] = 0

    def sampling(self) -> Sampling:
        """Return the same for those who ask."""
        return Sampling(**msgspec.structs.asdict(self))


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to watch, what to ask of it, and where results go; paths count from the file itself."""

    folders: Annotated[list[Name], msgspec.Meta(min_length=1)]
    """Folders in which checkpoints appear."""
    pattern: Name = "*"
    """Which names in them are checkpoints, as in checkpoint-* or */step-*."""
    results: Name
    """Folder that all watchers share."""
    model: Name
    """As of `proctor run --model`, with {checkpoint} where its path goes."""
    benchmarks: Annotated[list[Name], msgspec.Meta(min_length=1)]
    """By name, or paths of tasks files."""
    data: Name | None = None
    """Folder with the files of benchmarks."""
    complete: Literal["settled", "shards", "marker"] = "settled"
    """When a checkpoint is complete: nothing in it changed for a while and all shards that its
    index names are whole; or the latter at once; or the marker is there."""
    settle_seconds: Annotated[float, msgspec.Meta(ge=0, le=86400)] = 60.0
    marker: Name | None = None
    """A file that is put into a checkpoint last."""
    poll_seconds: Seconds = 10.0
    lease_seconds: Seconds = 120.0
    """A watcher that gave no sign of life for so long is taken to be dead."""
    benchmark_seconds: Seconds = 4 * 3600.0
    """For one checkpoint and one benchmark; what takes longer is killed."""
    attempts: Annotated[int, msgspec.Meta(ge=1, le=100)] = 3
    """How often a job that fails is tried."""
    contract_days: Annotated[float, msgspec.Meta(gt=0, le=3650)] = 30.0
    """A benchmark is in rotation if it kept its contract not longer ago than this."""
    sampling: Draws = Draws()
    prompt_strategy: Strategy = "standard"
    chat: bool | None = None
    base_url: Name | None = None
    device: Name | None = None
    sandbox: Literal["auto", "kernel", "docker", "contained", "wasm", "portable"] | None = None
    require: Tier | None = None
    workers: Annotated[int, msgspec.Meta(ge=1, le=MAX_WORKERS)] | None = None

    def model_of(self, checkpoint: str) -> str:
        """Return the name of the model that a checkpoint is."""
        quoted = shlex.quote(checkpoint) if self.model.startswith("command:") else checkpoint
        return self.model.replace(PLACE, quoted)


def read_config(path: Path) -> Config:
    """Read a watcher's file; every path in it is made absolute."""
    document = parse_toml(path, read_whole(path, MAX_BYTES))
    try:
        config = msgspec.convert(document, Config)
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: {explain_error(error).replace(' or null', '')}") from None
    wrong = _wrong(config)
    if wrong is not None:
        raise InputError(f"{path}: {wrong}")
    here = path.absolute().parent
    return msgspec.structs.replace(
        config,
        folders=[str(here / folder) for folder in config.folders],
        results=str(here / config.results),
        benchmarks=[_found(here, name) for name in config.benchmarks],
        data=None if config.data is None else str(here / config.data),
    )


def _wrong(config: Config) -> str | None:
    """Say what makes no sense, though every field for itself does."""
    if PLACE not in config.model:
        return f"field model must have {PLACE} in it, or all checkpoints would be one model"
    if not _is_provider(config.model):
        return f"field model: no such provider; known are {', '.join(KNOWN)}"
    if (config.complete == "marker") is (config.marker is None):
        return 'field marker names a file if, and only if, field complete is "marker"'
    if config.marker is not None and Path(config.marker).name != config.marker:
        return "field marker must be the name of a file, without a folder"
    if Path(config.pattern).is_absolute() or ".." in Path(config.pattern).parts:
        return "field pattern must be a pattern of names below the folders"
    if len(set(config.benchmarks)) < len(config.benchmarks):
        return "field benchmarks names one of them twice"
    return None


def _is_provider(model: str) -> bool:
    """Say whether somebody knows such models; else every checkpoint would fail."""
    provider, colon, _ = model.partition(":")
    if not colon:
        return model.startswith(PLACE)
    return provider in ("recorded", *PROVIDERS) or bool(
        load_plugins(GROUP, object, PROVIDERS, provider).found
    )


def _found(here: Path, name: str) -> str:
    """Return a benchmark's name, or where its file is if it is one beside the configuration."""
    beside = here / name
    return str(beside) if beside.is_file() else name
