"""How a stretch of text reads as Python: as a program, as the rest of the prompt, or not at all."""

import ast
import re

import msgspec

from proctor.extraction.python import syntax
from proctor.extraction.python.layout import body_indent, has_definition, indent_of, shift
from proctor.records.task import CallCases, StdinCases, Task

_FIRST_TOKEN = re.compile(
    r"(?:[ \t]*+(?:#[^\n]*+)?\n)*+(?P<indent>[ \t]*+)(?!else\b|elif\b|except\b|finally\b)"
)
_MAX_PARSES = 64
_MAX_PARSED = 1 << 20


class ParsedText(msgspec.Struct, frozen=True, kw_only=True):
    """Text that parses and does something."""

    code: str
    tree: ast.Module
    """The tree of the code, behind the prompt if it continues that."""
    continues: bool = False
    mended: bool = False
    """Its indentation was changed to make it parse."""


class TextParser:
    """Reads texts for one task, with a bounded number of parses for all of them together."""

    def __init__(self, task: Task) -> None:
        self.is_stdin = isinstance(task.tests, StdinCases)
        self.prompt = "" if self.is_stdin else task.prompt
        self._open_line = self.prompt.rpartition("\n")[2].strip() != ""
        self._entries = entry_names(task)
        self._parses_left = _MAX_PARSES
        self._characters_left = _MAX_PARSED

    def read(self, code: str) -> ParsedText | None:
        """Read a text untouched: as a program, or behind the prompt."""
        alone = self._parse(code)
        if alone is not None and syntax.has_stray_return(alone):
            alone = None
        if alone is None or (self._open_line and not self._binds_entry(alone)):
            better = self._outdented(code) or self._continue(code)
            if better is not None:
                return better
        if alone is not None and any(syntax.does_something(node) for node in alone.body):
            return ParsedText(code=code, tree=alone)
        return None

    def mend(self, code: str) -> ParsedText | None:
        """Read a text as the body of the prompt's function after mending its indentation."""
        if not self.prompt.strip() or len(code) > syntax.MAX_SOURCE or self.mentions_entry(code):
            return None
        indent = body_indent(self.prompt)
        head, _, tail = code.strip("\n").partition("\n")
        indents = [indent_of(line) for line in tail.split("\n") if line.strip()]
        rest = min(indents, key=len, default="")
        bodies = [f"{indent}{head.lstrip()}\n{tail}"]  # only the first line lost its indentation
        if not has_definition(head):  # else a broken function, not a body that begins with one
            bodies.append(shift(f"{head}\n{tail}", indent_of(head), indent))
            bodies.append(shift(f"{rest}{head.lstrip()}\n{tail}", rest, indent))
        for body in dict.fromkeys(bodies):
            reading = self._continue(body)
            if reading is not None:
                return msgspec.structs.replace(reading, mended=True)
        return None

    def longest(self, code: str, ends: list[int]) -> tuple[ParsedText, int] | None:
        """Read the longest head of a text that parses, and say at which of `ends` it ends.

        These are where statements at column 0 begin: if the head before one of them parses
        then all shorter heads do, so that bisection finds it.
        """
        best: tuple[ParsedText, int] | None = None
        low, high, step = 0, len(ends), 1
        while low < high:  # most often only a little at the end has to go
            middle = (low + high) // 2 if best else max(0, high - step)
            reading = self.read(code[: ends[middle]])
            if reading is None:
                high, step = middle, 2 * step
            else:
                low, best = middle + 1, (reading, ends[middle])
        return best

    def answers(self, reading: ParsedText) -> bool:
        """Whether a reading does what the task asks for: defines its entry point, reads stdin."""
        if reading.continues:
            return True
        if self.is_stdin:
            return syntax.reads_stdin(reading.tree)
        return any(syntax.defines(reading.tree, name) for name in self._entries)

    def mentions_entry(self, code: str) -> bool:
        """Whether a text seems to define the entry point, judged without parsing."""
        names = "|".join(map(re.escape, self._entries))
        pattern = (
            rf"^[ \t]*+(?:(?:async +)?def +(?:{names}) *\(|class +(?:{names})\b|(?:{names}) *=[^=])"
        )
        return bool(names) and re.search(pattern, code, re.MULTILINE) is not None

    def _binds_entry(self, tree: ast.Module) -> bool:
        return not self._entries or not self._entries.isdisjoint(syntax.bound_names(tree))

    def _continue(self, code: str) -> ParsedText | None:
        if not self.prompt.strip() or self._stands_alone(code):
            return None
        for body in (code,) if self.prompt.endswith("\n") else (code, "\n" + code):
            tree = self._parse(self.prompt + body)
            if tree is not None and syntax.completes(tree, self.prompt):
                return ParsedText(code=body, tree=tree, continues=True)
        return None

    def _stands_alone(self, code: str) -> bool:
        """Whether code at column 0 begins after a prompt that ended its last line."""
        first = _FIRST_TOKEN.match(code)
        at_start = first is not None and not first["indent"]
        return at_start and self.prompt.endswith("\n") and syntax.outline(self.prompt) is not None

    def _outdented(self, code: str) -> ParsedText | None:
        """Read a program all of which stands further right, say as a Markdown block."""
        base = indent_of(code.lstrip("\n"))
        if not base or not self.mentions_entry(code):
            return None
        outdented = re.sub(rf"^{base}", "", code, flags=re.MULTILINE)
        tree = self._parse(outdented)
        if tree is None or syntax.has_stray_return(tree) or not self._binds_entry(tree):
            return None
        return ParsedText(code=outdented, tree=tree, mended=True)

    def _parse(self, source: str) -> ast.Module | None:
        affordable = min(self._characters_left, syntax.MAX_SOURCE)
        if self._parses_left <= 0 or len(source) > affordable:
            return None
        self._parses_left -= 1
        self._characters_left -= len(source)
        return syntax.parse(source)


def entry_names(task: Task) -> frozenset[str]:
    """Return the module-level names that tests may call: `Solution` for `Solution().name`."""
    calls = [task.entry_point or ""]
    if isinstance(task.tests, CallCases):
        calls += [task.tests.fn_name, "Solution"]
    return frozenset(name for call in calls for name in re.findall(r"\A\w+", call))
