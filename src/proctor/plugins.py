"""What other packages bring by entry points, loaded one by one: a broken one breaks no other."""

from collections.abc import Collection, Mapping
from importlib import metadata
from typing import Generic, NamedTuple, TypeVar

Kind = TypeVar("Kind")
MAX_WHY = 200


class Plugins(NamedTuple, Generic[Kind]):
    """What is usable by its name, and of the rest why it is not."""

    found: dict[str, Kind]
    broken: dict[str, str]


def load_plugins(
    group: str, kind: type[Kind], built_in: Collection[str] = (), only: str | None = None
) -> Plugins[Kind]:
    """Load what packages bring under a group, except under names that are taken."""
    found: dict[str, Kind] = {}
    broken: dict[str, str] = {}
    owners = dict.fromkeys(built_in, "Proctor itself")
    for point in metadata.entry_points(group=group):
        if only is not None and point.name != only:
            continue
        try:
            found[point.name] = _loaded(point, kind, owners)
            owners[point.name] = _who(point)
        except _Unusable as trouble:
            broken.setdefault(point.name, f"{_who(point)} brings {point.name}, {trouble}")
    return Plugins(found, broken)


class _Unusable(Exception):
    """What is wrong with an entry point."""


def _loaded(point: metadata.EntryPoint, kind: type[Kind], owners: Mapping[str, str]) -> Kind:
    if point.name in owners:
        raise _Unusable(f"but {owners[point.name]} brings {point.name} already")
    try:
        loaded = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001  it is code of somebody else
        why = f"{type(error).__name__}: {error}"
        raise _Unusable(f"which cannot be loaded: {why[:MAX_WHY]}") from None
    if not isinstance(loaded, kind):
        raise _Unusable(f"which is a {type(loaded).__name__}, not a {kind.__name__}")
    own = getattr(loaded, "name", point.name)
    if own != point.name:
        raise _Unusable(f"which calls itself {str(own)[:MAX_WHY]}")
    return loaded


def _who(point: metadata.EntryPoint) -> str:
    distribution = getattr(point, "dist", None)
    return "a package" if distribution is None else f"the package {distribution.name}"
