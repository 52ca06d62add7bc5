"""Only benchmarks that kept their contract here, not long ago, are in rotation."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.settings import Settings
from proctor.watch.config import Config
from proctor.watch.rotation import Rotation


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (None, "nothing is known of its contract on this host; run proctor contract "),
        ({"in_rotation": False, "reason": "hidden: it can be read"}, "hidden: it can be read"),
        ({"created": "2020-01-01T00:00:00+00:00"}, "it kept its contract on 2020-01-01, too long"),
        ({}, ""),
    ],
)
def test_why_it_is_not(
    config: Callable[..., Config],
    tasks: Callable[..., Path],
    relied_on: Callable[..., Any],
    changes: dict[str, Any] | None,
    said: str,
) -> None:
    path = tasks()
    if changes is not None:
        relied_on(path, **changes)
    [why] = Rotation(config(), Settings()).look().values()
    assert why.startswith(said)
    assert bool(why) is bool(said)
