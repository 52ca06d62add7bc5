"""The benchmarks known by name: those in SOURCES of the files of this package."""

import re
from collections.abc import Iterator
from importlib import import_module, resources

from proctor.benchmarks.source import Source

DECLARATION = re.compile(r"^SOURCES\b", re.MULTILINE)


def _sources() -> Iterator[Source]:
    """Yield the sources of all files, by file name; files without SOURCES are not imported."""
    files = resources.files(__package__)
    for name in sorted(file.name for file in files.iterdir() if file.name.endswith(".py")):
        if DECLARATION.search((files / name).read_text("utf-8")):
            yield from import_module(f"{__package__}.{name.removesuffix('.py')}").SOURCES


TABLE = {source.name: source for source in sorted(_sources(), key=lambda one: one.position)}
