"""Code inside what other tools ask models to write: marks, tags, calls of tools; any language."""

import json
import re
from collections.abc import Iterator
from itertools import islice

from proctor.extraction import markdown
from proctor.extraction.markdown import Block

_MARKS = tuple(
    (re.compile(opening, re.IGNORECASE), re.compile(closing, re.IGNORECASE))
    for opening, closing in (
        (r"\[PYTHON\]", r"\[/PYTHON\]"),
        (r"(?:# *)?\[BEGIN\]", r"(?:# *)?\[DONE\]"),
        (r"<(code|python|answer|solution)\b[^<>\n]*>", r"</(code|python|answer|solution)>"),
        (r"<parameter(?:=code| name=\"code\")>", r"</parameter>"),
        (r"<\|begin_of_solution\|>", r"<\|end_of_solution\|>"),
        (r"<\|python_tag\|>", r"<\|eom_id\|>"),
    )
)
_ARGUMENTS = re.compile(r'"(?:arguments|parameters|input)"\s*+:\s*+(?=")')
_CODE_FIELD = re.compile(
    r'"(?:code|source|source_code|python_code|script|program|solution|answer)"\s*+:\s*+(?=")'
)
_JSON = json.JSONDecoder(strict=False)
MAX_REPEATS = 8
"""An answer can repeat a mark or a block without end; we read this many of each kind."""


def marked(text: str, *, truncated: bool) -> Iterator[Block]:
    """Yield what stands between marks; the prompt may hold the first."""
    for opening, closing in _MARKS:
        starts = [mark.end() for mark in islice(opening.finditer(text), MAX_REPEATS)]
        for start in starts or [0]:
            end = closing.search(text, start)
            if end is not None:
                yield Block(code=text[start : end.start()], kind="marked")
            elif starts and not truncated:
                yield Block(code=text[start:], kind="marked")


def tool_calls(text: str) -> Iterator[Block]:
    """Yield the code field of calls of tools, or of any JSON."""
    for found in (text, *_json_strings(_ARGUMENTS, text)):
        for code in _json_strings(_CODE_FIELD, found):
            yield Block(code=code, kind="tool-call")
            yield from markdown.blocks(code)


def _json_strings(key: re.Pattern[str], text: str) -> Iterator[str]:
    for field in islice(key.finditer(text), MAX_REPEATS):
        try:
            value, _ = _JSON.raw_decode(text, field.end())
        except ValueError:
            continue
        yield value
