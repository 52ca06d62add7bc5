"""Test code with a `main` of its own, made to tell how it went.

A test function says so itself, by a word that is chosen when the candidate's text is fixed: one
word at its end, another one if an assertion fails. So leaving early, catching signals or replacing
what an assertion calls makes no pass. Code that reads its own memory, or that makes the language's
own operators lie, is not stopped by this: it shares a process with the tests, and receipts say so.
"""

import re
from collections.abc import Iterator

import msgspec

from proctor.languages.language import Harness
from proctor.languages.lexer import Lexer


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """What the tests of one sample say, and nobody else knows."""

    yes: str
    no: str


_LAST_RETURN = re.compile(r"\breturn\b[^;{}]*;\s*\Z")


class Instrumented(msgspec.Struct, frozen=True, kw_only=True):
    """Test code that tells how it went."""

    code: str
    functions: int
    """How many have to say that they came to their end."""


def instrument(
    code: str, harness: Harness, lexer: Lexer, tokens: Tokens, line: int
) -> Instrumented | None:
    """Make test code tell how it went; None if there is no test function in it."""

    def said(text: str) -> str:
        text = text.replace("@YES@", tokens.yes).replace("@NO@", tokens.no)
        return text.replace("@LINE@", str(line))

    if not harness.heads:
        return Instrumented(code=said(harness.before) + code + said(harness.closing), functions=1)
    parts: list[str] = []
    at = functions = 0
    for head in re.finditer(harness.heads, code, re.MULTILINE):
        end = lexer.end_of(code, start=head.end() - 1)
        if head.start() < at or end is None:
            continue
        if not functions and harness.before:
            here = code.count("\n", 0, head.start()) + 1
            parts += [code[at : head.start()], said(harness.before).replace("@HERE@", str(here))]
            at = head.start()
        last = _LAST_RETURN.search(code, head.end(), end)
        close = last.start() if last else end
        parts += [code[at : head.end()], said(harness.opening), code[head.end() : close]]
        parts.append(said(harness.closing))
        at, functions = close, functions + 1
    return (
        Instrumented(code="".join([*parts, code[at:]]), functions=functions) if functions else None
    )


def parse_report(stdout: str, tokens: Tokens) -> Iterator[str]:
    """Yield what was said with the word for no."""
    for line in stdout.splitlines():
        if line.startswith(tokens.no):
            yield line.removeprefix(tokens.no).strip()
