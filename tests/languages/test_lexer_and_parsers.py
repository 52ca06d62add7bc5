"""The scanner finds the braces that real parsers find, in all programs of the benchmarks.

What is extracted must not depend on what is installed, so parsers judge the scanner here, and the
scanner alone reads answers.
"""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.languages import get_language
from proctor.storage.jsonl import open_bytes
from tests.requires import requires

GRAMMARS = {
    "cpp": ("tree_sitter_cpp", "language"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}
WHERE = {"javascript": "js", "typescript": "ts", "rust": "r*s"}
HIDING = {"template_string", "template_substitution", "string_literal", "comment"}


def parser(language: str) -> Any:
    requires("tree-sitter")
    import tree_sitter

    module, name = GRAMMARS[language]
    grammar = getattr(importlib.import_module(module), name)
    return tree_sitter.Parser(tree_sitter.Language(grammar()))


def braces(node: Any) -> Iterator[tuple[int, str]]:
    """Yield the braces that a parser sees, where they stand among bytes."""
    if node.type in HIDING:
        return
    if not node.children and node.type in ("{", "}"):
        yield node.start_byte, node.type
    for child in node.children:
        yield from braces(child)


def programs(data: Path, language: str) -> Iterator[tuple[str, str]]:
    name = WHERE.get(language, language)
    for path in sorted(data.glob(f"humaneval-x/*_{name}*.jsonl*")):
        with open_bytes(path) as file:
            for line in file:
                row = json.loads(line)
                front = row["declaration"] if language == "rust" else row["prompt"]
                text = front + row["canonical_solution"] + row["test"]
                yield row["task_id"], text
    for path in sorted(data.glob(f"multipl-e/*-{name}.jsonl*")):
        with open_bytes(path) as file:
            for line in file:
                row = json.loads(line)
                yield row["name"], row["prompt"] + "\n}\n" + row["tests"].partition("}")[2]


@pytest.mark.parametrize("language", GRAMMARS)
def test_it_sees_what_a_parser_sees(data: Path, language: str) -> None:
    parse = parser(language).parse
    seen = 0
    for name, text in programs(data, language):
        tree = parse(text.encode())
        if tree.root_node.has_error:
            continue
        ours = [
            (len(text[: one.at].encode()), text[one.at])
            for one in get_language(language).lexer.braces(text)
        ]
        assert ours == list(braces(tree.root_node)), name
        seen += 1
    if not seen:
        pytest.skip(f"there are no programs in {language}")
    assert seen > 50
