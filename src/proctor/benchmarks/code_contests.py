"""CodeContests problems from rLLM; `contest_rows.py` reads the rows."""

from proctor.benchmarks.contest_rows import RLLM, aliases, reader
from proctor.benchmarks.source import Source

SOURCES = (
    Source(
        name="code_contests",
        position=70,
        summary="CodeContests problems (Li et al. 2022) as rLLM tests with them",
        tasks=165,
        file="code_contests.json",
        url=f"{RLLM}/code_contests.json",
        licence="MIT",
        sha256="0e3c580698270ab930268cbc63ea6b9cf920874ac40de4a06bdbebc7c2eade71",
        read=reader("code_contests"),
        alias=aliases,
        folder="contests",
    ),
)
