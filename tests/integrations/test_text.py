"""Text functions of other tools, with their habits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.extraction.assemble import BASE_IMPORTS
from proctor.integrations import text as drop_in
from proctor.integrations.text import (
    extract_code,
    extract_code_from_model,
    extract_python_code,
    strip_markdown_fences,
)

ADD = "def add(a, b):\n    return a + b\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"```python\n{ADD}```", ADD),
        (f"```\n{ADD}```", ADD),
        (f"Sure:\n```py\n{ADD}```\nand\n```\nx\n```", ADD),
        (f"```python\r\n{ADD}```", ADD),
        ("```python\nx = 1```", "x = 1"),
        ("```c++\nint x;\n```", "int x;\n"),
        (ADD, ADD),
        ("  no fences at all ", "  no fences at all "),
        ("", ""),
        (f"```python\n{ADD}", None),
        ("text ``` text", None),
        ("```python```", None),
    ],
)
def test_extract_code(text, code):
    assert extract_code(text) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"```python\n{ADD}```", ADD.strip()),
        (f"```\nx = 1\n```\nbetter:\n```python\n\n{ADD}\n```\n", ADD.strip()),
        (ADD, None),
        (f"```python\n{ADD}", None),
        ("", None),
    ],
)
def test_extract_code_from_model(text, code):
    assert extract_code_from_model(text) == code


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        (f"```python\n{ADD}```", ADD.removesuffix("\n")),
        (f"```python\n{ADD}```\n", ADD),
        ("~~~\nx\n~~~", "x"),
        ("  ```py\n  x\n  ```", "  x"),
        ("a\n```\nb\n```\nc", "a\nb\nc"),
        ("x = '```'", "x = '```'"),
        ("```x = 1```", "```x = 1```"),
        (ADD, ADD),
        ("", ""),
    ],
)
def test_strip_markdown_fences(text, stripped):
    assert strip_markdown_fences(text) == stripped


@pytest.mark.parametrize(
    "behind",
    [
        "Human\nmore", "Human: more", "Human:", "Assistant\n", "Assistant: yes", "User\n", "User: no",
        "**Explanation**", "**bold", "### Usage", "###", "---", "---\nmore", "```", "```\n",
    ],
)  # fmt: skip
def test_extract_python_code_stops_at_what_is_no_python(behind):
    assert extract_python_code(f"```python\n{ADD}{behind}") == ADD.strip()


@pytest.mark.parametrize(
    "line",
    ["User = dict", "Humans = 3", "# ## heading", "x = -1", "Assistants()", "  **kwargs", "--x"],
)
def test_extract_python_code_goes_on_at_what_is_python(line):
    assert extract_python_code(f"{ADD}{line}\n") == f"{ADD}{line}"


def test_extract_python_code_drops_reasoning():
    answer = f"<think>\nHuman\n```python\nx\n```\n</think>\n\n```python\n{ADD}```\n"
    assert extract_python_code(answer) == ADD.strip()
    assert extract_python_code(f"so it is.\n</think>\n{ADD}") == ADD.strip()
    assert extract_python_code("<think>\nnever ends") == ""


def test_extract_python_code_keeps_the_indentation_of_a_body():
    assert extract_python_code("    return a + b\n\n### Note") == "    return a + b"


def test_windows_line_ends():
    answer = f"```python\n{ADD}```\n---\n".replace("\n", "\r\n")
    assert extract_python_code(answer) == ADD.strip()


@given(st.text(st.characters(exclude_categories=())))
def test_no_text_makes_them_raise(text):
    assert extract_code(text) is None or isinstance(extract_code(text), str)
    assert extract_code_from_model(text) is None or "```" in text
    assert isinstance(extract_python_code(text), str)
    assert len(strip_markdown_fences(text)) <= len(text)


@given(st.text(alphabet="ab`~\n ", max_size=50))
def test_stripping_fences_twice_is_stripping_them_once(text):
    once = strip_markdown_fences(text)
    assert strip_markdown_fences(once) == once


def test_base_imports_import():
    names = {}
    exec(BASE_IMPORTS, names)
    assert {
        "math",
        "re",
        "List",
        "Optional",
        "defaultdict",
        "Counter",
        "heappush",
        "reduce",
    } <= set(names)


def test_the_names():
    assert set(drop_in.__all__) == {
        "BASE_IMPORTS",
        "extract_code",
        "extract_code_from_model",
        "extract_python_code",
        "strip_markdown_fences",
    }
