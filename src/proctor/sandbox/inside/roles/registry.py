"""Who plays which role, wherever a guest lives."""

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import NoReturn

from ..protocol.frames import Channel

RoleFunction = Callable[[Channel], None]

ROLES = {
    "candidate": ("candidate", "answer"),
    "examiner": ("examiner", "examine"),
    "checker": ("checker", "check"),
    "together": ("same_process", "examine_together"),
    "notebook": ("notebook", "run_cells"),
}
"""Role → the module and function that plays it; a box has only the modules that it needs."""
_found: dict[str, RoleFunction | None] = {}


def find_role(role: str) -> RoleFunction | None:
    """Return what plays a role; None if that is a program."""
    if role not in _found:
        module, function = ROLES.get(role, ("", ""))
        found = getattr(import_module(f".{module}", __package__), function) if module else None
        _found[role] = found
    return _found[role]


def run_role(play: RoleFunction | None, wire: Channel) -> NoReturn:
    """Play a role to its end, which is the end of the process."""
    try:
        assert play is not None  # noqa: S101
        play(wire)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)
