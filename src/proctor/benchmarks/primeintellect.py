"""SYNTHETIC-1's coding problems; `contest_rows.py` reads the rows."""

from proctor.benchmarks.contest_rows import HUGGING_FACE, aliases, reader
from proctor.benchmarks.source import Source

SOURCES = (
    Source(
        name="primeintellect",
        position=75,
        summary="verifiable coding problems of SYNTHETIC-1 (Prime Intellect 2025)",
        file="train.jsonl",
        url=f"{HUGGING_FACE}/PrimeIntellect/verifiable-coding-problems",
        licence="see its page",
        read=reader("primeintellect"),
        alias=aliases,
    ),
)
