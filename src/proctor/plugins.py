"""What other packages bring by entry points, loaded one by one: a broken one breaks no other."""

from collections.abc import Collection
from importlib import metadata
from typing import Generic, NamedTuple, TypeVar

Kind = TypeVar("Kind")
MAX_WHY = 200


class Plugged(NamedTuple, Generic[Kind]):
    """What is usable by its name, and of the rest why it is not."""

    found: dict[str, Kind]
    broken: dict[str, str]


def plugged_in(
    group: str, kind: type[Kind], taken: Collection[str] = (), only: str | None = None
) -> Plugged[Kind]:
    """Load what packages bring under a group; names that are `taken` are not theirs to give."""
    found: dict[str, Kind] = {}
    broken: dict[str, str] = {}
    for point in metadata.entry_points(group=group):
        if only is not None and point.name != only:
            continue
        trouble = _trouble_by_name(point, [*taken, *found])
        if trouble is None:
            loaded = _loaded(point, kind)
            if isinstance(loaded, kind):
                found[point.name] = loaded
                continue
            trouble = str(loaded)
        broken.setdefault(point.name, f"{_who(point)} {trouble}")
    return Plugged(found, broken)


def _trouble_by_name(point: metadata.EntryPoint, taken: Collection[str]) -> str | None:
    return f"brings {point.name}, but that name is taken" if point.name in taken else None


def _loaded(point: metadata.EntryPoint, kind: type[Kind]) -> Kind | str:
    """Return what an entry point stands for, or what is wrong with it."""
    try:
        loaded = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001  it is code of somebody else
        why = f"{type(error).__name__}: {error}"
        return f"brings {point.name}, which cannot be loaded: {why[:MAX_WHY]}"
    if not isinstance(loaded, kind):
        return f"brings {point.name}, which is a {type(loaded).__name__}, not a {kind.__name__}"
    own = getattr(loaded, "name", point.name)
    if own != point.name:
        return f"brings {point.name}, which calls itself {str(own)[:MAX_WHY]}"
    return loaded


def _who(point: metadata.EntryPoint) -> str:
    distribution = getattr(point, "dist", None)
    return "a package" if distribution is None else f"the package {distribution.name}"
