"""The size of things, checked so that it is a fact and not a wish."""

import ast
import statistics
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "proctor"
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST_FILE = 600
LONGEST_FUNCTION, MEDIAN_FUNCTION, USUAL_FUNCTION = 60, 8, 35


def functions() -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    return [
        (f"{path.relative_to(SOURCE)}:{node.lineno} {node.name}", node)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count a function's own lines; the flags of a command are a table, not code."""
    return (node.end_lineno or 0) - node.body[0].lineno + 1


def test_files_are_short() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in FILES}
    assert not {str(p): n for p, n in lines.items() if n > LONGEST_FILE}


def test_functions_are_short() -> None:
    lengths = {name: length(node) for name, node in functions()}
    assert not {name: n for name, n in lengths.items() if n > LONGEST_FUNCTION}
    assert statistics.median(lengths.values()) <= MEDIAN_FUNCTION
    assert statistics.quantiles(lengths.values(), n=20)[-1] <= USUAL_FUNCTION


def test_every_function_says_what_it_returns() -> None:
    assert not [name for name, node in functions() if node.returns is None]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_module_opens_with_what_it_is(path: Path) -> None:
    text = path.read_text()
    assert not text or ast.get_docstring(ast.parse(text))


def test_what_lives_inside_a_box_imports_nothing_of_proctor() -> None:
    for path in (SOURCE / "sandbox" / "inside").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.level > 0 or not (node.module or "").startswith("proctor"), path
            if isinstance(node, ast.Import):
                assert not any(name.name.startswith("proctor") for name in node.names), path


def test_no_module_is_a_drawer() -> None:
    drawers = {"utils", "common", "helpers", "misc", "types", "manager", "handler", "base"}
    assert not [path for path in FILES if path.stem in drawers]


def test_only_settings_reads_the_environment() -> None:
    for path in FILES:
        if path.name != "settings.py":
            assert "os.environ" not in path.read_text(), path
            assert "getenv" not in path.read_text(), path
