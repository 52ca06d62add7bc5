"""What is asked of a run before its figures are published: one TOML file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from proctor.errors import InputError
from proctor.records.execution import Tier
from proctor.storage.jsonl import explain_error, parse_toml, read_whole

MAX_BYTES = 1 << 20

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
K = Annotated[str, msgspec.Meta(pattern="^[1-9][0-9]{0,8}$")]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]

Skippable = Literal["whole", "scored", "contract", "references", "receipts", "tier"]


class Smoke(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model whose score is known, well enough to say that something is wrong if it has another.

    It is asked here and now, or was: then its run is named.
    """

    name: Name
    """As in known-good."""
    model: Name | None = None
    """As of `proctor run --model`."""
    run: Name | None = None
    tasks: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Ask the first so many; all if nothing is said."""
    k: Annotated[int, msgspec.Meta(ge=1)] = 1
    low: Share
    high: Share


class Demands(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked of runs of one benchmark."""

    pass_at_k: Mapping[K, Share] = {}
    """k → the least that pass@k may be."""
    interval_width: Mapping[K, Share] = {}
    """k → the most that the upper bound of pass@k may be above the lower one."""
    baseline: Name | None = None
    """A run that this one may not be worse than, noise aside."""
    smoke: list[Smoke] = []


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked of every run, and of those of one benchmark; paths count from the file."""

    contract_days: Annotated[float, msgspec.Meta(gt=0, le=3650)] = 30.0
    """The benchmark kept its contract on this host, not longer ago than that."""
    verify_share: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.05
    """So much of the receipts is judged again and comes out the same."""
    tier: Tier = "contained"
    """The least isolation that candidates ran in."""
    skip: list[Skippable] = []
    """Lines that are not asked for; the gate says so."""
    benchmark: Mapping[str, Demands] = {}

    def of(self, benchmark: str) -> Demands:
        """Return what is asked of runs of a benchmark."""
        return self.benchmark.get(benchmark, Demands())


def read_policy(path: Path) -> Policy:
    """Read a policy; every path in it is made absolute."""
    document = parse_toml(path, read_whole(path, MAX_BYTES))
    try:
        policy = msgspec.convert(document, Policy)
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: {explain_error(error).replace(' or null', '')}") from None
    here = path.absolute().parent
    demands = {name: _settled(path, here, name, one) for name, one in policy.benchmark.items()}
    return msgspec.structs.replace(policy, benchmark=demands)


def _settled(path: Path, here: Path, name: str, demands: Demands) -> Demands:
    for smoke in demands.smoke:
        where = f"{path}: field benchmark.{name}.smoke, {smoke.name}"
        if (smoke.model is None) is (smoke.run is None):
            raise InputError(f"{where}: must have one of model and run")
        if smoke.low > smoke.high:
            raise InputError(f"{where}: low is above high")
        if smoke.run is not None and smoke.tasks is not None:
            raise InputError(f"{where}: tasks is for a model that is asked, not for a run")
    return msgspec.structs.replace(
        demands,
        baseline=None if demands.baseline is None else str(here / demands.baseline),
        smoke=[
            one if one.run is None else msgspec.structs.replace(one, run=str(here / one.run))
            for one in demands.smoke
        ],
    )
