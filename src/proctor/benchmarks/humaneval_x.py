"""HumanEval-X: HumanEval in five languages, one benchmark for each, all with the same format.

A prompt, an answer and the tests are concatenated, as its publisher does.
"""

import re
from collections.abc import Callable
from functools import partial

import msgspec

from proctor.benchmarks.source import Declaration, Fields, Source
from proctor.benchmarks.translations import LIMITS, finish_task
from proctor.records.task import Task, TestProgram
from proctor.storage.jsonl import Line

URL = "https://raw.githubusercontent.com/THUDM/CodeGeeX/main/codegeex/benchmark/humaneval-x"
CRATES = re.compile(r"^use\s+(\w+)[^;]*;[ \t]*\n", re.MULTILINE)


class Row(msgspec.Struct, kw_only=True):
    """One line of HumanEval-X."""

    task_id: str
    prompt: str
    test: str
    declaration: str = ""
    test_setup: str = ""
    canonical_solution: str | None = None


def reader(language: str) -> Callable[[Line], Task]:
    """Return the reader of rows in one language."""

    def read(line: Line) -> Task:
        row = line.decode(Row)
        prompt = row.prompt
        if language == "rust":  # its prompt is a comment; the declaration is a separate field
            used = f"{row.canonical_solution}\n{row.test}"
            prompt += _crates_in_use(row.declaration, used)
        task = Task(
            task_id=row.task_id,
            prompt=prompt,
            tests=TestProgram(code=row.test, setup=row.test_setup),
            language=language,
            canonical_solution=row.canonical_solution,
            limits=LIMITS,
        )
        return finish_task(line, task, row.test)

    return read


def _is_row(prefix: str, fields: Fields) -> bool:
    match fields:
        case {"declaration": _, "task_id": str(task_id)}:
            return task_id.partition("/")[0] == prefix
    return False


def _crates_in_use(declaration: str, used: str) -> str:
    """Remove crates that neither the reference nor the tests need: few hosts have them."""

    def keep(use: re.Match[str]) -> str:
        needed = use[1] in {"std", "core"} or re.search(rf"\b{use[1]}\b", used)
        return use[0] if needed or use[1].title() in used else ""

    return CRATES.sub(keep, declaration)


KNOWN = {
    "js": Declaration(
        known={
            "references": {
                "JavaScript/112": "its reference is wrong",
                "JavaScript/155": "its reference is wrong",
            }
        }
    ),
    "rust": Declaration(known={"references": {"Rust/32": "all of its tests are in a comment"}}),
    "go": Declaration(known={"stable": {"Go/95": "its reference depends on the order of a map"}}),
}
"""Faults of the published data, by language."""
SOURCES = tuple(
    Source(
        name=f"humaneval-x-{name}",
        position=100,
        summary=f"HumanEval in {title} (Zheng et al. 2023)",
        tasks=164,
        file=f"humaneval_{name}.jsonl",
        url=f"{URL}/{name}/data/humaneval_{name}.jsonl.gz",
        licence="Apache-2.0",
        sha256=sha256,
        read=reader(language),
        matches=partial(_is_row, "CPP" if name == "cpp" else title),
        folder="humaneval-x",
        declares=KNOWN.get(name, Declaration()),
    )
    for name, language, title, sha256 in (
        ("go", "go", "Go", "87aba5e8ab3be26aec48a355b77c73790900ebae3731c44ea9e3fdd5ea51f1fe"),
        ("cpp", "cpp", "C++", "af420b4b58c1b5e7f4cac9c1257daad7b20b5c77e88d59ccc120e63825f03325"),
        (
            "java",
            "java",
            "Java",
            "2157a77a6ff808020adc20142228b4ff698048c0696b33110786400c47c5d79c",
        ),
        (
            *("js", "javascript", "JavaScript"),
            "da529500a73fcbc86bc8f6c7855c0f2c0fc7af1c4dc530e26a54bbfd17f97cef",
        ),
        (
            "rust",
            "rust",
            "Rust",
            "36938439d536c34418b582db82f7bfa5d0331990424fc69b1915c5067634b4e7",
        ),
    )
)
