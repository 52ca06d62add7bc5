"""What chat models put around code, whatever the language: reasoning, end marks, fences."""

import re

import msgspec

from proctor.extraction.string_literals import STRING, TRIPLE_QUOTED

_REASONING = re.compile(
    r"(^[ \t]*+)?(?:<(?=/?(?:seed:)?(?:think|thinking|thoughts?|reasoning|reflection)>)"
    r"|◁(?=/?think▷)|\[(?=/?think\]))(/)?[\w:]++[>▷\]](?=([ \t]*+$)?)",
    re.IGNORECASE | re.MULTILINE,
)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_END = re.compile(  # but not inside a line of code, where it is text that a program handles
    r"(?:<\|(?:im_end|endoftext|end_of_text|eot_id|eom_id|end|return|EOT)\|>"
    r"|</s>|<eos>|<end_of_turn>|<\uff5cend\u2581of\u2581sentence\uff5c>)(?=[ \t]*$|<\|)",
    re.MULTILINE,
)
_FENCE = re.compile(
    r"^([ \t]*+(?:(?:[-*+]|\d{1,3}[.)])[ \t]++)?+)(`{3,}+|~{3,}+)([^\n]*+)$", re.MULTILINE
)
_STRING = re.compile(STRING)
_DOCSTRING = re.compile(rf"^[ \t]++[rRuU]?+{TRIPLE_QUOTED}", re.MULTILINE)
_PATIENCE = 8


class Fence(msgspec.Struct, frozen=True, kw_only=True):
    """One line that may open or close a block of code."""

    start: int
    end: int
    indent: int
    mark: str
    info: str

    def closes(self, opening: "Fence") -> bool:
        """Whether this line can close the block that `opening` began."""
        same = self.mark[0] == opening.mark[0] and len(self.mark) >= len(opening.mark)
        return same and not self.info


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of an answer that may be code."""

    code: str
    kind: str
    """Name of the rule that found it."""
    tag: str = ""
    """The language its fence names, in lower case."""
    closed: bool = True


def normalise(text: str) -> str:
    """Drop the byte order mark and make every line end a newline, as Python itself does."""
    return text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def strip_reasoning(text: str) -> tuple[str, bool]:
    """Return the text without its reasoning and end marks, and whether the reasoning ended."""
    text = text.rpartition(_FINAL_CHANNEL)[2]
    kept: list[str] = []
    position, thinking = 0, False
    for tag in _REASONING.finditer(text):
        at_start, closing, at_end = tag[1] is not None, tag[2] is not None, tag[3] is not None
        if closing and (thinking or at_start or at_end):
            if not thinking:  # the opening tag stood in the prompt
                kept.clear()
            position, thinking = tag.end(), False
        elif at_start and not closing and not thinking:
            kept.append(text[position : tag.start()])
            thinking = True
    if not thinking:
        kept.append(text[position:])
    answer = "".join(kept)
    end = _END.search(answer)
    return (answer[: end.start()] if end else answer), not thinking


def fences(text: str) -> list[Fence]:
    """Return the lines that look like fences, without those in docstrings of unfenced code."""
    found = _fence_lines(text)
    first = 0
    for docstring in _DOCSTRING.finditer(text):
        if first == len(found) or found[first].start < docstring.start():
            break
        while first < len(found) and found[first].start < docstring.end():
            first += 1
    return found[first:]


def _fence_lines(text: str) -> list[Fence]:
    found = []
    for line in _FENCE.finditer(text):
        info = line[3].strip()
        if "`" not in info:  # code between backticks on one line is no fence
            start, end = line.span()
            found.append(Fence(start=start, end=end, indent=len(line[1]), mark=line[2], info=info))
    return found


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a text in order; the last one may be unclosed."""
    lines = fences(text)
    found = []
    index, patience = 0, _PATIENCE
    while index < len(lines):
        opening = lines[index]
        if _is_wrapper(lines, index):
            index += 1
            continue
        closing, straight = _closing(text, lines, index, mind_strings=patience > 0)
        patience -= not straight
        end = lines[closing].start if closing else len(text)
        found.append(_block(text, opening, end, closed=closing is not None))
        index = closing + 1 if closing else len(lines)
    return found


def _is_wrapper(lines: list[Fence], index: int) -> bool:
    """Whether a fence only wraps Markdown that has fences of its own."""
    following = lines[index + 1] if index + 1 < len(lines) else None
    return (
        lines[index].info in {"markdown", "md"} and following is not None and following.info != ""
    )


def _closing(
    text: str, lines: list[Fence], index: int, *, mind_strings: bool
) -> tuple[int | None, bool]:
    """Find the line that closes a block, and whether no string had to be broken for that.

    A fence inside a string of the code (an example in a docstring) closes nothing. But what
    looks like a string may be a stray quote that runs into the next block: a new fence with a
    tag, no deeper than ours, tells. The caller bounds how often we look so far ahead.
    """
    opening = lines[index]
    hidden: int | None = None
    position = opening.end
    for number in range(index + 1, len(lines)):
        line = lines[number]
        if line.start >= position and line.closes(opening):
            position = _string_end(text, position, line.start) if mind_strings else line.start
            if position <= line.start:
                return number, True
        if hidden is None and line.closes(opening):
            hidden = number
        elif hidden is not None and line.info and line.indent <= opening.indent:
            return hidden, False
    return hidden, hidden is None


def _string_end(text: str, start: int, end: int) -> int:
    """Return `end`, or the end of the string that began after `start` and goes on there."""
    last: re.Match[str] | None = None
    for last in _STRING.finditer(text, start, end):  # noqa: B007  only the last one matters
        pass
    if last is None or last.end() < end:
        return end
    whole = _STRING.match(text, last.start())
    return whole.end() if whole else end


def _block(text: str, opening: Fence, end: int, *, closed: bool) -> Block:
    code = text[opening.end + 1 : end]
    if opening.indent:
        code = re.sub(rf"^[ \t]{{1,{opening.indent}}}", "", code, flags=re.MULTILINE)
    words = opening.info.strip("{}.").split()
    return Block(
        code=code,
        kind="fence" if closed else "unclosed-fence",
        tag=words[0].lower() if words else "",
        closed=closed,
    )
