"""The import denylist: a backstop for tasks that ask for it, not a wall.

It looks only at what the candidate's own code imports or calls, told by the globals of the
calling frame; what a library imports for itself stays untouched.
"""

import builtins
import errno
import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

MODULES = frozenset(
    {
        "subprocess",
        "socket",
        "requests",
        "urllib",
        "ctypes",
        "shutil",
        "http.client",
        "asyncio.subprocess",
    }
)


class DeniedImport(ImportError):
    """The task's denylist refuses this import."""


class DeniedCall(PermissionError):
    """The task's denylist refuses this call."""


DENIED = (DeniedImport, DeniedCall)


def install(namespace: dict[str, Any]) -> None:
    """Refuse denied imports and calls to code whose globals are `namespace`."""
    plain_import = builtins.__import__

    def guarded_import(
        name: str,
        globals: Any = None,  # noqa: A002  the signature is Python's
        locals: Any = None,  # noqa: A002
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        if (sys._getframe(1).f_globals if globals is None else globals) is namespace:
            for wanted in (name, *(f"{name}.{part}" for part in fromlist or ())):
                _refuse(wanted)
        return plain_import(name, globals, locals, fromlist, level)

    builtins.__import__ = guarded_import
    importlib.import_module = _guarded_loader(namespace, importlib.import_module)
    os.system = _guarded_system(namespace, getattr(os, "system", _no_system))


def _refuse(wanted: str) -> None:
    for module in MODULES:
        if wanted == module or wanted.startswith(module + "."):
            raise DeniedImport(f"import of {wanted} is denied")
    if wanted == "os.system":
        raise DeniedImport("import of os.system is denied")


def _guarded_loader(namespace: dict[str, Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    def import_module(name: str, package: str | None = None) -> Any:
        if sys._getframe(1).f_globals is namespace:
            _refuse(name)
        return plain(name, package)

    return import_module


def _guarded_system(namespace: dict[str, Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    def system(command: Any) -> Any:
        if sys._getframe(1).f_globals is namespace:
            raise DeniedCall("os.system is denied")
        return plain(command)

    return system


def _no_system(command: Any) -> Any:
    """Stand where there is no os.system, because there are no processes."""
    del command
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
