"""Codeforces problems from rLLM; `contest_rows.py` reads the rows."""

from proctor.benchmarks.contest_rows import RLLM, aliases, reader
from proctor.benchmarks.source import Source

SOURCES = (
    Source(
        name="codeforces",
        position=71,
        summary="Codeforces problems as rLLM tests with them",
        tasks=408,
        file="codeforces.json",
        url=f"{RLLM}/codeforces.json",
        licence="MIT",
        sha256="8e9eab7fce7e432abe4437dd997c16f1514be51d224f2d72a7bd07d58cce476a",
        read=reader("codeforces"),
        alias=aliases,
        folder="contests",
    ),
)
