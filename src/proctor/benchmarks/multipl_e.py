"""MultiPL-E: HumanEval translated to six languages, one benchmark for each, all with one format.

A prompt, an answer and the tests are concatenated, as its publisher does. The published tests begin
with the brace that MultiPL-E's stop tokens cut off an answer; here it belongs to the answer.
"""

import re
from collections.abc import Callable
from functools import partial

import msgspec

from proctor.benchmarks.source import Fields, Source
from proctor.benchmarks.translations import LIMITS, finish_task
from proctor.records.task import Task, TestProgram
from proctor.storage.jsonl import Line

URL = "https://raw.githubusercontent.com/deepseek-ai/DeepSeek-Coder/main/Evaluation/HumanEval/data"
TUPLES = re.compile(r"\b(?:Unit|Pair|Triplet|Quartet|Quintet|Sextet)\b")


class Row(msgspec.Struct, kw_only=True):
    """One line of MultiPL-E."""

    name: str
    prompt: str
    tests: str


def reader(language: str) -> Callable[[Line], Task]:
    """Return the reader of rows in one language."""

    def read(line: Line) -> Task:
        row = line.decode(Row)
        prompt = row.prompt
        if language == "java" and not TUPLES.search(prompt + row.tests):
            prompt = prompt.replace("import org.javatuples.*;\n", "")
        tests = row.tests.lstrip()
        tests = tests[1:] if tests.startswith("}") else row.tests
        task = Task(
            task_id=row.name,
            prompt=prompt,
            tests=TestProgram(code=tests),
            language=language,
            limits=LIMITS,
        )
        return finish_task(line, task, tests)

    return read


def _is_row(name: str, fields: Fields) -> bool:
    match fields:
        case {"stop_tokens": _, "language": str(language)}:
            return language.partition("_")[0] == name
    return False


SOURCES = tuple(
    Source(
        name=f"multipl-e-{name}",
        position=110,
        summary=f"HumanEval translated to {title} (Cassano et al. 2023)",
        tasks=tasks,
        file=f"humaneval-{name}.jsonl",
        url=f"{URL}/humaneval-{name}.jsonl",
        licence="MIT",
        sha256=sha256,
        read=reader(language),
        matches=partial(_is_row, name),
        folder="multipl-e",
    )
    for name, language, title, tasks, sha256 in (
        (
            *("cpp", "cpp", "C++", 161),
            "8717eabdf202137158c84506144b0fb1e73d5ecccbe5363ec79009ca014df629",
        ),
        (
            *("go", "go", "Go", 154),
            "7f5dfe3ff001049b1221e9d21a8119b5cbc38eb87c97fefc5d57fa7adc1df888",
        ),
        (
            *("java", "java", "Java", 158),
            "b21b015763452ec4f9f4e0e6425148ec331ace4da1232c8b4d441186185f6265",
        ),
        (
            *("js", "javascript", "JavaScript", 161),
            "634e2eee8d6e22de07c121b972207683dd96be76256bf44bdfc1a3386b739287",
        ),
        (
            *("rs", "rust", "Rust", 156),
            "e33f562838e973b7e6b8d76dbc1fb84b076d7426629b4cdc624f12678778d2fa",
        ),
        (
            *("ts", "typescript", "TypeScript", 159),
            "4b1af1050c9f226335d54a8c80553c39454a525cace3e67bdcfcc9092ba02637",
        ),
    )
)
