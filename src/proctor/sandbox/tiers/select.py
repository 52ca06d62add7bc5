"""Which tier to run candidates in."""

from collections.abc import Callable, Sequence
from typing import get_args

from proctor.errors import InputError, SandboxError
from proctor.records.execution import Tier
from proctor.sandbox import Sandbox
from proctor.sandbox.tiers.contained import open_contained
from proctor.sandbox.tiers.docker import open_docker
from proctor.sandbox.tiers.kernel import open_kernel
from proctor.sandbox.tiers.portable import Portable
from proctor.sandbox.tiers.wasm import open_wasm

ORDER: tuple[Tier, ...] = get_args(Tier)
"""Best first."""
TIERS: dict[Tier, Callable[[str, Sequence[str] | None, Sequence[str]], Sandbox]] = {
    "kernel": open_kernel,
    "docker": open_docker,
    "contained": open_contained,
    "wasm": open_wasm,
    "portable": Portable,
}


AUTOMATIC: tuple[Tier, ...] = ("kernel", "docker", "contained")
"""What `auto` tries, in this order: tiers that isolate."""


def open_sandbox(
    name: str,
    python: str,
    require: str | None = None,
    packages: Sequence[str] | None = None,
    wished: Sequence[str] = (),
) -> Sandbox:
    """Open the tier called `name`; `auto` is the best that is isolated, or nothing.

    Candidates may import `packages`; if nobody says which, those `wished` for where installed.
    """
    for flag, asked in (("--sandbox", name), ("--require", require)):
        if asked not in (None, "auto", *ORDER):
            raise InputError(f"{flag} {asked}: known are auto, {', '.join(ORDER)}")
    tiers = AUTOMATIC if name == "auto" else tuple(tier for tier in ORDER if tier == name)
    good = [tier for tier in tiers if require not in ORDER or not _less(tier, require)]
    if not good:
        raise SandboxError(f"--require {require}: {name} is less than that")
    refusals = []
    for tier in good:
        try:
            sandbox = TIERS[tier](python, packages, wished)
            isolated = sandbox.enforcement().isolated
        except SandboxError as error:
            refusals.append(f"{tier}: {error}")
            continue
        if isolated or name != "auto":
            return sandbox
        sandbox.close()
        refusals.append(f"{tier}: it would not isolate candidates")
    raise SandboxError(_refusal(name, refusals))


def _less(tier: Tier, required: str) -> bool:
    names: tuple[str, ...] = ORDER
    return names.index(tier) > names.index(required)


def _refusal(name: str, refusals: Sequence[str]) -> str:
    hint = (
        "proctor doctor says what is missing, --wasm PATH runs candidates in a WASI build of "
        "Python, and --sandbox portable runs them without isolation"
    )
    if name == "auto":
        return f"no sandbox that isolates works here ({'; '.join(refusals)}); {hint}"
    return f"the {name} sandbox does not work here: {refusals[0].partition(': ')[2]}; {hint}"
