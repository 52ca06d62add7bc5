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
_role_functions: dict[str, RoleFunction | None] = {}


def find_role(role: str) -> RoleFunction | None:
    """Return what plays a role; None if that is a program."""
    if role not in _role_functions:
        module, function = ROLES.get(role, ("", ""))
        loaded = getattr(import_module(f".{module}", __package__), function) if module else None
        _role_functions[role] = loaded
    return _role_functions[role]


def run_role(role_function: RoleFunction | None, channel: Channel) -> NoReturn:
    """Play a role to its end, which is the end of the process."""
    try:
        assert role_function is not None  # noqa: S101
        role_function(channel)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)
