"""TACO: contest problems by skill; `contest_rows.py` reads the rows."""

from proctor.benchmarks.contest_rows import HUGGING_FACE, aliases, reader
from proctor.benchmarks.source import Source

SOURCES = (
    Source(
        name="taco",
        position=73,
        summary="problems of coding contests by skill (Li et al. 2023), test",
        tasks=1000,
        file="test.jsonl",
        url=f"{HUGGING_FACE}/BAAI/TACO",
        licence="Apache-2.0",
        read=reader("taco"),
        alias=aliases,
    ),
)
