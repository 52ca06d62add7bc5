"""Which tier to run candidates in."""

from collections.abc import Callable
from typing import get_args

from proctor.errors import InputError, SandboxError
from proctor.sandbox import Sandbox, Tier
from proctor.sandbox.kernel import Kernel
from proctor.sandbox.portable import Portable

TIERS: dict[str, Callable[[str], Sandbox]] = {"kernel": Kernel, "portable": Portable}
"""Best first."""


def open_sandbox(name: str, python: str, require: str | None = None) -> Sandbox:
    """Open the tier called `name`, or the best there is for `auto`."""
    for asked in (name, require):
        if asked not in (None, "auto", *get_args(Tier)):
            raise InputError(f"--sandbox {asked}: known are auto, {', '.join(get_args(Tier))}")
    chosen = next(iter(TIERS)) if name == "auto" else name
    if chosen not in TIERS:
        raise SandboxError(f"the {chosen} sandbox is not part of this version")
    order = list(get_args(Tier))
    if require is not None and order.index(chosen) > order.index(require):
        raise SandboxError(f"--require {require}: this host offers {chosen} only")
    return TIERS[chosen](python)
