"""HumanEval in other languages: rows as HumanEval-X and MultiPL-E have them.

Their tests are programs of the same language. What both publishers concatenate is a prompt, an
answer and tests; MultiPL-E's tests begin with the brace that its stop tokens cut off, which we
leave to the answer.
"""

import re
from collections.abc import Callable
from functools import partial

import msgspec

from proctor.benchmarks.source import Declaration, Fields, Source
from proctor.extraction.c_family import entry_of
from proctor.languages import get_language
from proctor.records.limits import Limits
from proctor.records.task import Task, TestProgram
from proctor.storage.jsonl import Line, shorten

GITHUB = "https://raw.githubusercontent.com"
HUMANEVAL_X = f"{GITHUB}/THUDM/CodeGeeX/main/codegeex/benchmark/humaneval-x"
MULTIPL_E = f"{GITHUB}/deepseek-ai/DeepSeek-Coder/main/Evaluation/HumanEval/data"
LIMITS = Limits().with_seconds(10.0)
"""A runtime that has to start takes its time."""
CRATES = re.compile(r"^use\s+(\w+)[^;]*;[ \t]*\n", re.MULTILINE)
TUPLES = re.compile(r"\b(?:Unit|Pair|Triplet|Quartet|Quintet|Sextet)\b")


class XRow(msgspec.Struct, kw_only=True):
    """One line of HumanEval-X."""

    task_id: str
    prompt: str
    test: str
    declaration: str = ""
    test_setup: str = ""
    canonical_solution: str | None = None


class ERow(msgspec.Struct, kw_only=True):
    """One line of MultiPL-E."""

    name: str
    prompt: str
    tests: str


def humaneval_x(language: str) -> Callable[[Line], Task]:
    """Return what reads rows of HumanEval-X in one language."""

    def read(line: Line) -> Task:
        row = line.decode(XRow)
        prompt = row.prompt
        if language == "rust":  # its prompt is a comment, and what it is about stands apart
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
        return _checked(line, task, row.test)

    return read


def multipl_e(language: str) -> Callable[[Line], Task]:
    """Return what reads rows of MultiPL-E in one language."""

    def read(line: Line) -> Task:
        row = line.decode(ERow)
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
        return _checked(line, task, tests)

    return read


def _is_humaneval_x(prefix: str, fields: Fields) -> bool:
    match fields:
        case {"declaration": _, "task_id": str(task_id)}:
            return task_id.partition("/")[0] == prefix
    return False


def _is_multipl_e(name: str, fields: Fields) -> bool:
    match fields:
        case {"stop_tokens": _, "language": str(language)}:
            return language.partition("_")[0] == name
    return False


def _crates_in_use(declaration: str, used: str) -> str:
    """Leave out crates that neither the reference nor the tests need: few hosts have them."""

    def kept(use: re.Match[str]) -> str:
        needed = use[1] in {"std", "core"} or re.search(rf"\b{use[1]}\b", used)
        return use[0] if needed or use[1].title() in used else ""

    return CRATES.sub(kept, declaration)


def _checked(line: Line, task: Task, code: str) -> Task:
    if not task.task_id:
        raise line.error("task_id is empty")
    harness = get_language(task.language).harness
    if harness and harness.heads and not re.search(harness.heads, code, re.MULTILINE):
        raise line.error(f"there is no test function in {shorten(code)}")
    return msgspec.structs.replace(task, entry_point=entry_of(task))


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
"""What is wrong with HumanEval-X as it is published."""
X_SOURCES = tuple(
    Source(
        name=f"humaneval-x-{name}",
        position=100,
        summary=f"HumanEval in {title} (Zheng et al. 2023)",
        tasks=164,
        file=f"humaneval_{name}.jsonl",
        url=f"{HUMANEVAL_X}/{name}/data/humaneval_{name}.jsonl.gz",
        licence="Apache-2.0",
        sha256=sha256,
        read=humaneval_x(language),
        matches=partial(_is_humaneval_x, "CPP" if name == "cpp" else title),
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
E_SOURCES = tuple(
    Source(
        name=f"multipl-e-{name}",
        position=110,
        summary=f"HumanEval translated to {title} (Cassano et al. 2023)",
        tasks=tasks,
        file=f"humaneval-{name}.jsonl",
        url=f"{MULTIPL_E}/humaneval-{name}.jsonl",
        licence="MIT",
        sha256=sha256,
        read=multipl_e(language),
        matches=partial(_is_multipl_e, name),
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
SOURCES = (*X_SOURCES, *E_SOURCES)
