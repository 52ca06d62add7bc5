"""Load the entry points of other packages one by one, so that a broken one breaks no other."""

from collections.abc import Collection, Mapping
from importlib import metadata
from typing import Generic, NamedTuple, TypeVar

Kind = TypeVar("Kind")
MAX_WHY = 200


class Plugins(NamedTuple, Generic[Kind]):
    """The usable plugins by name, and for the others the reason why they are not."""

    found: dict[str, Kind]
    broken: dict[str, str]


def load_plugins(
    group: str, kind: type[Kind], built_in: Collection[str] = (), only: str | None = None
) -> Plugins[Kind]:
    """Load the entry points of a group, except those whose name is taken.

    Entry points are sorted by package and name: of two with one name, the package that comes first
    in the alphabet has it, in whichever order the file system lists them.
    """
    found: dict[str, Kind] = {}
    broken: dict[str, str] = {}
    owners = dict.fromkeys(built_in, "Proctor itself")
    for point in sorted(metadata.entry_points(group=group), key=_order):
        if only is not None and point.name != only:
            continue
        try:
            found[point.name] = _loaded(point, kind, owners)
            owners[point.name] = _who(point)
        except _Unusable as trouble:
            broken.setdefault(point.name, f"{_who(point)} brings {point.name}, {trouble}")
    return Plugins(found, broken)


class _Unusable(Exception):
    """The reason why an entry point is unusable."""


def _loaded(point: metadata.EntryPoint, kind: type[Kind], owners: Mapping[str, str]) -> Kind:
    if point.name in owners:
        raise _Unusable(f"but {owners[point.name]} brings {point.name} already")
    try:
        loaded = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001  plugins may raise anything
        why = f"{type(error).__name__}: {error}"
        raise _Unusable(f"which cannot be loaded: {why[:MAX_WHY]}") from None
    if not isinstance(loaded, kind):
        raise _Unusable(f"which is a {type(loaded).__name__}, not a {kind.__name__}")
    own = getattr(loaded, "name", point.name)
    if own != point.name:
        raise _Unusable(f"which calls itself {str(own)[:MAX_WHY]}")
    return loaded


def _order(point: metadata.EntryPoint) -> tuple[str, str]:
    return _package(point) or "", point.name


def _who(point: metadata.EntryPoint) -> str:
    package = _package(point)
    return "a package" if package is None else f"the package {package}"


def _package(point: metadata.EntryPoint) -> str | None:
    distribution = getattr(point, "dist", None)
    return None if distribution is None else distribution.name
