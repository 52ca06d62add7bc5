"""APPS: problems of contests and interviews; `contest_rows.py` reads the rows."""

from proctor.benchmarks.contest_rows import HUGGING_FACE, aliases, is_contest_row, reader
from proctor.benchmarks.source import Source

SOURCES = (
    Source(
        name="apps",
        position=72,
        summary="problems of coding contests and interviews (Hendrycks et al. 2021), test",
        tasks=5000,
        file="test.jsonl",
        url=f"{HUGGING_FACE}/codeparrot/apps",
        licence="MIT",
        read=reader("apps"),
        matches=is_contest_row,
        reader_for=reader,
        alias=aliases,
    ),
)
