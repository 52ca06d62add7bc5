"""A small benchmark in Perl; `perl.py` has the language."""

from pathlib import Path

from proctor.benchmarks import tasks_file
from proctor.benchmarks.source import Declaration, Source

BASICS = Source(
    name="perl-basics",
    summary="6 small programs in Perl",
    tasks=6,
    file=str(Path(__file__).with_name("tasks.toml")),
    licence="MIT",
    read=tasks_file.read,
    declares=Declaration(difficulty={"easy": (0.4, 0.8), "medium": (0.2, 0.6)}),
)
