"""The user's home folder."""

from pathlib import Path


def home(*parts: str) -> Path | None:
    """Return a path in the user's home folder, None for a user without one."""
    try:
        return Path.home().joinpath(*parts)
    except RuntimeError:
        return None
