"""DeepCoder's training problems; `contest_rows.py` reads the rows."""

from proctor.benchmarks.contest_rows import HUGGING_FACE, aliases, reader
from proctor.benchmarks.source import Source

SOURCES = (
    Source(
        name="deepcoder",
        position=74,
        summary="verified contest problems to train with (Agentica 2025)",
        file="train.jsonl",
        url=f"{HUGGING_FACE}/agentica-org/DeepCoder-Preview-Dataset",
        licence="MIT",
        read=reader("deepcoder"),
        alias=aliases,
    ),
)
