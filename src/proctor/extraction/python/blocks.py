"""Where in an answer Python code may stand: each finder proposes blocks, none of them decides."""

import re
from collections.abc import Callable, Iterator
from itertools import islice

import msgspec

from proctor.extraction import markdown, tool_wrappers
from proctor.extraction.markdown import Block
from proctor.extraction.python import syntax
from proctor.extraction.python.layout import (
    indent_of,
    is_code_line,
    is_prose_line,
    line_at,
    statement_starts,
)
from proctor.extraction.python.reader import ParsedText, TextParser
from proctor.extraction.python.trailing_chat import before_chat
from proctor.extraction.tool_wrappers import MAX_REPEATS

_DOCTEST = re.compile(r"^[ \t]*(?:>>>|\.\.\.)(?: (.*)|)$", re.MULTILINE)
_INDENTED = re.compile(r"^(?:[ ]{2,}|\t+)(?=(?:async +)?def |class |import |from |@)", re.MULTILINE)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer without its reasoning, and what all finders need to know of it."""

    text: str
    reader: TextParser
    truncated: bool
    blocks: list[Block]
    """What stands between its fences."""
    starts: list[int]
    """Where its statements at column 0 begin."""

    @classmethod
    def of(cls, text: str, reader: TextParser, *, truncated: bool) -> "Answer":
        """Look at a text once, for all finders."""
        return cls(
            text=text,
            reader=reader,
            truncated=truncated,
            blocks=markdown.blocks(text),
            starts=statement_starts(text),
        )


def _whole(answer: Answer) -> Iterator[Block]:
    """What is left of the answer without its reasoning and end marks."""
    yield Block(code=answer.text.strip("\n"), kind="whole")


def _fenced(answer: Answer) -> Iterator[Block]:
    """Blocks between fences, the first of which may have been opened by the prompt."""
    text, blocks = answer.text, answer.blocks
    opening = next(iter(markdown.fences(text)), None) if blocks else None
    if opening and not opening.info:
        before = text[: opening.start]
        if answer.reader.read(before) or answer.reader.mend(before):
            yield Block(code=before, kind="prefilled-fence")
            blocks = markdown.blocks(text[opening.end + 1 :])
    for block in blocks:
        if block.closed or not answer.truncated:
            yield block
        elif complete := _complete_part(block.code):
            yield msgspec.structs.replace(block, code=complete, kind="cut-fence")


def _complete_part(code: str) -> str:
    """Return all but the last statement of code that the length limit cut."""
    return code[: statement_starts(code)[-1]]


def _inline_fenced(answer: Answer) -> Iterator[Block]:
    """Code between backticks that do not stand on lines of their own."""
    if any(block.closed for block in answer.blocks):
        return
    parts = re.split(r"`{3,}", answer.text, maxsplit=2 * MAX_REPEATS)
    for part in parts[1:-1:2]:
        tag = re.match(r"(?:python3?|py)\b[ \t]*\n?", part, re.IGNORECASE)
        yield Block(code=part[tag.end() :] if tag else part, kind="inline-fence")
    text = answer.text.strip()
    if len(parts) == 1 and text.startswith("`") and text.endswith("`"):
        yield Block(code=text.strip("`"), kind="inline-fence")


def _marked(answer: Answer) -> Iterator[Block]:
    """Code between marks that other tools ask models to write."""
    return tool_wrappers.marked(answer.text, truncated=answer.truncated)


def _tool_call(answer: Answer) -> Iterator[Block]:
    """The code field of a call of a tool, or of any JSON."""
    return tool_wrappers.tool_calls(answer.text)


def _before_chat(answer: Answer) -> Iterator[Block]:
    """The text before a line that begins a new turn or an explanation, nearest last."""
    return before_chat(answer.text, answer.starts)


def _amid_prose(answer: Answer) -> Iterator[Block]:
    """Code with prose before or after it, or with an end that the length limit cut."""
    text, reader = answer.text, answer.reader
    for start in _code_starts(answer):
        ends = [end - start for end in answer.starts if end > start]
        code = text[start:]
        reading, length = reader.longest(code, ends) or (None, 0)
        cuts_prose = is_prose_line(line_at(code, length))
        if reading is not None and (cuts_prose or answer.truncated):
            kind = "prose-cut" if cuts_prose else "cut"
            yield Block(code=_without_trailing_names(reading, reader), kind=kind)
        else:  # it may still be a body whose indentation can be mended
            prose = next((end for end in ends if is_prose_line(line_at(code, end))), len(code))
            yield Block(code=code[:prose], kind="prose-cut")


def _code_starts(answer: Answer) -> list[int]:
    """Return where code may begin: as a body, at its first line, at the entry point."""
    text = answer.text
    body = [0] if indent_of(text.lstrip("\n")) else []
    first = (start for start in answer.starts if is_code_line(line_at(text, start)))
    entry = (
        start
        for start in reversed(answer.starts)
        if answer.reader.mentions_entry(line_at(text, start)) and _follows_prose(text, start)
    )
    return list(dict.fromkeys([*body, *islice(first, 1), *islice(entry, 1)]))


def _follows_prose(text: str, start: int) -> bool:
    """Whether the last line before a position can only be prose."""
    end = max(0, start - 1)
    while end and text[end - 1] == "\n":
        end -= 1
    line = text[text.rfind("\n", 0, end) + 1 : end]
    return not line.startswith((" ", "\t", "#")) and is_prose_line(line)


def _without_trailing_names(reading: ParsedText, reader: TextParser) -> str:
    """Drop statements at the end that are words of the prose behind: a heading parses too."""
    ends = [n.end_lineno or 0 for n in reading.tree.body if syntax.does_something(n)]
    before = reader.prompt.count("\n") if reading.continues else 0
    return "\n".join(reading.code.split("\n")[: ends[-1] - before]) + "\n"


def _doctest(answer: Answer) -> Iterator[Block]:
    """Lines that an interactive session would show behind its prompts."""
    lines = [line[1] or "" for line in _DOCTEST.finditer(answer.text)]
    if lines:
        yield Block(code="\n".join(lines), kind="doctest")


def _indented(answer: Answer) -> Iterator[Block]:
    """A Markdown block that is indented and not fenced."""
    text = answer.text
    opening = next((m for m in _INDENTED.finditer(text) if _follows_prose(text, m.start())), None)
    if opening is None:
        return
    lines = []
    for line in text[opening.start() :].split("\n"):
        if line.strip() and not line.startswith(opening[0]):
            break
        lines.append(line.removeprefix(opening[0]))
    yield Block(code="\n".join(lines).rstrip("\n"), kind="indented")


FINDERS: tuple[Callable[[Answer], Iterator[Block]], ...] = (
    _whole,
    _fenced,
    _inline_fenced,
    _marked,
    _tool_call,
    _before_chat,
    _amid_prose,
    _doctest,
    _indented,
)
"""In the order of trust."""
