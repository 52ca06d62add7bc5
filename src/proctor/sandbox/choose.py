"""Which tier to run candidates in."""

from collections.abc import Callable, Sequence
from typing import get_args

from proctor.errors import InputError, SandboxError
from proctor.sandbox import Sandbox, Tier
from proctor.sandbox.kernel import Kernel
from proctor.sandbox.portable import Portable

ORDER: tuple[Tier, ...] = get_args(Tier)
"""Best first."""
TIERS: dict[Tier, Callable[[str, Sequence[str] | None], Sandbox]] = {
    "kernel": Kernel,
    "portable": Portable,
}


def open_sandbox(
    name: str,
    python: str,
    require: str | None = None,
    packages: Sequence[str] | None = None,
) -> Sandbox:
    """Open the tier called `name`; `auto` is the best that is isolated, or nothing."""
    for flag, asked in (("--sandbox", name), ("--require", require)):
        if asked not in (None, "auto", *ORDER):
            raise InputError(f"{flag} {asked}: known are auto, {', '.join(ORDER)}")
    chosen: Tier = "kernel" if name == "auto" else name  # type: ignore[assignment]
    if require in ORDER and ORDER.index(chosen) > ORDER.index(require):
        raise SandboxError(f"--require {require}: {chosen} is less than that")
    if chosen not in TIERS:
        raise SandboxError(f"the {chosen} sandbox is not part of this version")
    sandbox = TIERS[chosen](python, packages)
    try:
        sandbox.enforcement()
    except SandboxError as error:
        raise SandboxError(
            f"the {chosen} sandbox does not work here: {error}; proctor doctor says what is "
            f"missing, and --sandbox portable runs candidates without isolation"
        ) from None
    return sandbox
