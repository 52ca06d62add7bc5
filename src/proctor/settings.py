"""The one TOML file, and the only module that reads the environment.

Settings are looked for in `proctor.toml` of the working folder, else in
`~/.config/proctor/proctor.toml`; the environment variable `PROCTOR_CONFIG` names another file.
Flags of the command line win over settings.
"""

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from proctor.errors import InputError
from proctor.storage.home import home
from proctor.storage.jsonl import explain_error, parse_toml, read_whole

TuneFork = Literal["off", "pages", "pins", "all"]
MAX_BYTES = 1 << 20
MAX_WORKERS = 1024


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What can be set once for all commands."""

    data: str | None = None
    """Folder with the files of benchmarks."""
    workers: Annotated[int, msgspec.Meta(ge=1, le=MAX_WORKERS)] | None = None
    """How many samples are graded at once; as many as there are processors by default."""
    sandbox: Literal["auto", "kernel", "docker", "contained", "wasm", "portable"] = "auto"
    """Tier to run candidates in."""
    docker_image: str | None = None
    """Image of the docker tier; python:3.x-slim of the version in use by default."""
    wasm: str | None = None
    """Path of the WASI build of Python that candidates of the wasm tier run in."""
    tune_fork: TuneFork = "all"
    """How keepers make forks cheaper (Linux); only measurements need anything but `all`."""
    candidate_packages: list[str] | None = None
    """Installed packages that candidates may import; numpy, where it is installed, by default."""
    openai_url: str | None = None
    """Address of the server that openai:NAME asks, as in http://localhost:8000/v1."""
    anthropic_url: str | None = None
    """Address of the server that anthropic:NAME asks."""
    max_seconds: Annotated[float, msgspec.Meta(gt=0, le=86400)] = 300.0
    """The longest time limit that a benchmark or request may ask for."""


def load_settings() -> Settings:
    """Read the settings file, if there is one."""
    path = settings_file()
    if path is None:
        return Settings()
    document = parse_toml(path, read_whole(path, MAX_BYTES))
    try:
        return msgspec.convert(document, Settings)
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: {explain_error(error).replace(' or null', '')}") from None


def settings_file() -> Path | None:
    """Return the path of the settings file, None if there is none."""
    named = os.environ.get("PROCTOR_CONFIG")
    if named:
        return Path(named)
    for path in (Path("proctor.toml"), home(".config", "proctor", "proctor.toml")):
        if path is not None and path.is_file():
            return path
    return None


def has_display() -> bool:
    """Return True if a browser could open on this machine."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def server_of(provider: str, settings: Settings) -> tuple[str | None, str | None]:
    """Return the address of a provider's server and its API key, each None if unknown.

    Keys are read from the environment only, so that no settings file has to be kept secret.
    """
    name = provider.upper()
    named = getattr(settings, f"{provider}_url", None)
    return (
        named or os.environ.get(f"{name}_BASE_URL"),
        os.environ.get(f"{name}_API_KEY"),
    )


def environment_variable(name: str) -> str | None:
    """Return a variable of the environment that belongs to another tool; None if it is empty."""
    return os.environ.get(name) or None


def default_workers() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def environment(**changes: str) -> dict[str, str]:
    """Return a copy of the environment with some changes, for a child process."""
    return {**os.environ, **changes}


def set_library_defaults(**variables: str) -> None:
    """Set environment variables that configure libraries, unless the user has set them."""
    for name, value in variables.items():
        os.environ.setdefault(name, value)
