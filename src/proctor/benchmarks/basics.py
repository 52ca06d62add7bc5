"""Small tasks of all kinds that come with Proctor."""

from proctor.benchmarks import tasks_file
from proctor.benchmarks.source import Declaration, Source

SOURCES = (
    Source(
        name="basics",
        position=10,
        summary="54 small tasks of all kinds, easy to hard; needs no download",
        tasks=54,
        file="basics.toml",
        licence="MIT",
        sha256="8e54742d9dab9521819292389c466863bf0a942279629d94343cb62addfe7286",
        read=tasks_file.read,
        declares=Declaration(
            difficulty={"easy": (0.4, 0.6), "medium": (0.2, 0.4), "hard": (0.15, 0.3)}
        ),
    ),
)
