"""Code for people to read never is anything else."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from proctor.viewer.highlight import MAX_COLOURED, Gap, highlight_code, shown, side_by_side

HOSTILE = "</code><script>alert(1)</script>\n'\"><img src=x onerror=alert(2)>"


def plain(lines: list[Markup]) -> list[str]:
    """Return what a reader sees."""
    return [html.unescape(re.sub(r"</?span[^<>]*>", "", str(line))) for line in lines]


@pytest.mark.parametrize("language", ["python", "cpp", "c", "java", "no such language", ""])
def test_hostile_code_is_text(language: str) -> None:
    lines = highlight_code(HOSTILE, language)
    assert plain(lines) == HOSTILE.splitlines()
    assert not any("<script" in line or "<img" in line for line in lines)


def test_words_are_marked() -> None:
    assert '<span class="k">def</span>' in highlight_code("def f(): pass", "python")[0]


@given(st.text())
def test_every_line_is_there(code: str) -> None:
    lines = highlight_code(code, "python")
    assert len(lines) == len(code.splitlines())
    for line in lines:
        assert not re.search(r"<(?!/?span)", str(line))


def test_too_long_to_be_coloured() -> None:
    code = "x = '<b>'\n" * MAX_COLOURED
    assert highlight_code(code, "python")[0] == Markup("x = &#39;&lt;b&gt;&#39;")


def test_cut() -> None:
    assert shown("abc", 2) == ("ab", 1)
    assert shown("abc") == ("abc", 0)


def test_side_by_side() -> None:
    rows = side_by_side("a\nb\nc\n", "a\nB\nc\nd\n")
    assert rows is not None
    found = [
        (row.kind, row.left and row.left.text, row.right and row.right.text)
        for row in rows
        if not isinstance(row, Gap)
    ]
    assert found == [
        ("same", "a", "a"),
        ("changed", "b", "B"),
        ("same", "c", "c"),
        ("new", None, "d"),
    ]


def test_what_is_the_same_is_folded() -> None:
    same = "\n".join(map(str, range(50)))
    rows = side_by_side(same, same + "\nnew", context=2)
    assert rows is not None
    assert rows[0] == Gap(48)
    assert len(rows) == 4
    assert all(not isinstance(row, Gap) for row in side_by_side(same, same) or [])


def test_too_long_to_compare() -> None:
    assert side_by_side("x\n" * 1001, "x") is None


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_both_sides_are_whole(ours: list[str], theirs: list[str]) -> None:
    rows = side_by_side("\n".join(ours), "\n".join(theirs), context=100)
    assert rows is not None
    pairs = [row for row in rows if not isinstance(row, Gap)]
    assert [pair.left.text for pair in pairs if pair.left] == "\n".join(ours).splitlines()
    assert [pair.right.text for pair in pairs if pair.right] == "\n".join(theirs).splitlines()
