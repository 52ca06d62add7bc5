"""Languages with braces: which part of an answer is a program, or the rest of the prompt.

Blocks between fences come first, those with the language's own tag before others; then code in
marks and calls of tools, then the text itself. Of several blocks the last is taken that defines
what the task asks for, else the first. Code that defines it stands on its own: an echo of the
prompt is part of that. Code that does not goes on where the prompt stops, and ends where the brace
is closed that the prompt opened. A `main` of the candidate's is dropped where the tests bring one.
"""

import re
from collections.abc import Iterator

from proctor.extraction import markdown, tool_wrappers
from proctor.extraction.markdown import Block
from proctor.languages import get_language
from proctor.languages.language import Language
from proctor.records.extraction import Extraction, NoCode
from proctor.records.task import StdinCases, Task, TestProgram

_HEAD = re.compile(r"([A-Za-z_$][\w$]*)\s*(?:<[^<>()]*>)?\s*(?:=\s*(?:async\s*)?)?\(")
_KEYWORDS = frozenset({"if", "for", "while", "switch", "return", "catch", "main", "function"})
_GENERICS = r"(?:<(?:[^<>()]|<[^<>()]{0,100}+>){0,200}+>)?"
_PAIR = r"\{[^{};]{0,100}+\}"  # as in a default of `{1, 2}`
_PARAMETERS = rf"\((?:[^;{{}}()]|{_PAIR}|\((?:[^;{{}}()]|{_PAIR}){{0,200}}+\)){{0,600}}+\)"
_CODE = re.compile(r"[;{}]|=>|\breturn\b")


def find_code(text: str, task: Task, *, truncated: bool) -> Extraction | NoCode:
    """Find the code in a normalised answer that is neither empty nor too long."""
    text, finished = markdown.strip_reasoning(text)
    entry = None if isinstance(task.tests, StdinCases) else task.entry_point or entry_of(task)
    if task.context is not None and task.entry_point:
        entry = task.entry_point.rpartition("::")[2]
    blocks = [block for block in _blocks(text, task, truncated=truncated) if block.code.strip()]
    for block in _ordered(blocks, task, entry):
        cut = truncated and not block.closed
        found = _read(block, task, entry, truncated=cut)
        if found is not None:
            return found
    if not finished:
        return NoCode(reason="its reasoning never ended")
    if truncated and blocks:
        return NoCode(reason="the length limit cut the answer before its code was complete")
    return NoCode(reason="there is no code in the answer")


def entry_of(task: Task) -> str | None:
    """Return the last function of a prompt that the tests call, or the last one at all."""
    names = [name for name in _HEAD.findall(task.prompt) if name not in _KEYWORDS]
    asked = [name for name in names if name in _words(_tests(task))]
    return (asked or names)[-1] if names else None


def _blocks(text: str, task: Task, *, truncated: bool) -> Iterator[Block]:
    fenced = markdown.blocks(text)
    own = [block for block in fenced if block.tag in get_language(task.language).fence_tags]
    yield from own or [block for block in fenced if not block.tag] or fenced
    if not fenced:
        wrapped = [
            *tool_wrappers.tool_calls(text),
            *tool_wrappers.marked(text, truncated=truncated),
        ]
        yield from wrapped or [Block(code=text.strip("\n"), kind="whole", closed=False)]


def _ordered(blocks: list[Block], task: Task, entry: str | None) -> list[Block]:
    """Put the last block that answers the task before all others."""
    if entry is None:
        answers = [block for block in blocks if re.search(r"\bmain\b", block.code)]
        if not get_language(task.language).starts_at_main or not answers:
            return sorted(blocks, key=lambda block: -len(block.code))
    else:
        language = get_language(task.language)
        answers = [block for block in blocks if _defines(block.code, entry, language)]
    return [*answers[:-2:-1], *blocks]


def _defines(code: str, entry: str, language: Language) -> bool:
    """Say whether code has a definition of a function, by what stands behind its name."""
    if language.definition:
        return re.search(language.definition.replace("@NAME@", re.escape(entry)), code) is not None
    types = "".join(f"{re.escape(name)}|" for name in language.brace_types)
    body = rf"(?:{types}[^;{{}}()]|\([^;{{}}()]{{0,200}}+\)){{0,300}}+\{{"
    value = r"[:=][^;\n]*(?:=>|function)"
    head = rf"\b{re.escape(entry)}\s*{_GENERICS}\s*(?:{_PARAMETERS}{body}|{value})"
    return re.search(head, code) is not None


def _read(block: Block, task: Task, entry: str | None, *, truncated: bool) -> Extraction | None:
    """Read a block as a program of its own or as the rest of the prompt."""
    code, language = block.code, get_language(task.language)
    if task.context is not None:
        cut = truncated and language.lexer.depth_after(code) > 0
        prose = block.kind == "whole" and not _CODE.search(code)
        return None if cut or prose else Extraction(code=f"{code.rstrip()}\n", rule=block.kind)
    if entry is None or not language.has_braces:
        plain = block.kind == "whole" and language.has_braces
        if truncated or (plain and not _CODE.search(code)):
            return None
        return Extraction(code=code, rule=block.kind)
    closes = _closes(task)
    if _defines(code, entry, language) and not language.lexer.lowest(code):
        return _whole(block, task, closes, truncated=truncated)
    return _rest(block, task, closes, truncated=truncated)


def _closes(task: Task) -> int:
    """Return how many braces the tests close that code in front of them has to leave open."""
    return get_language(task.language).lexer.lowest(_tests(task))


def _tests(task: Task) -> str:
    return task.tests.code if isinstance(task.tests, TestProgram) else ""


def _words(text: str) -> set[str]:
    return set(re.findall(r"[\w$]+", text))


def _whole(block: Block, task: Task, closes: int, *, truncated: bool) -> Extraction | None:
    code, language, rule = block.code, get_language(task.language), block.kind
    depth = language.lexer.depth_after(code)
    if depth > closes and truncated:
        return None
    if block.kind == "whole":  # prose may stand behind it
        ends = [b.at for b in language.lexer.braces(code) if b.depth == 0]
        code = code[: ends[-1] + 1] if ends else code
    if isinstance(task.tests, TestProgram):
        trimmed = _without_main(code, language)
        if trimmed != code:
            code, rule = trimmed, f"{rule}+main dropped"
        if language.lost_beside_tests:
            code = re.sub(language.lost_beside_tests, r"\1", code, flags=re.MULTILINE)
    if closes and depth == 0:
        code = code[: code.rstrip().rindex("}")]
    return Extraction(code=f"{code.rstrip()}\n", rule=rule)


def _rest(block: Block, task: Task, closes: int, *, truncated: bool) -> Extraction | None:
    """Take code up to the brace that ends what the prompt began, and the functions it needs."""
    code, lexer = block.code, get_language(task.language).lexer
    depth = lexer.depth_after(task.prompt)
    indented = code[:1].isspace() and block.kind == "whole"
    if depth <= closes or not (indented or _CODE.search(code)):
        return None
    end = lexer.end_of(code, depth=depth, until=closes)
    if end is not None:
        tail = ";" if code[end + 1 :].startswith(";") else ""
        more = _needed(code, end, task, depth, closes)
        kept = f"{code[: end + 1]}{tail}{more}\n"
        return Extraction(code=kept, rule="body+helpers" if more else "body", continues=True)
    open_ = depth + lexer.depth_after(code)
    if truncated or open_ <= closes:
        return None
    missing = "\n}" * (open_ - closes)  # a stop token took them
    return Extraction(code=f"{code.rstrip()}{missing}\n", rule="body+closed", continues=True)


def _needed(code: str, end: int, task: Task, depth: int, closes: int) -> str:
    """Return those functions behind a body that it calls, or the tests do, and what is between."""
    words = _words(code[:end]) | _words(_tests(task))
    language = get_language(task.language)
    at, kept = end + 1, end + 1
    for brace in language.lexer.braces(code, depth):
        if brace.at <= end or brace.depth != closes:
            continue
        names = set(_HEAD.findall(code, at, brace.at)) - _KEYWORDS
        if names & words:
            kept = brace.at + 1
        at = brace.at + 1
    return _without_main(code[end + 1 : kept], language)


def _without_main(code: str, language: Language) -> str:
    """Return code without its function `main`: the tests have their own."""
    if not language.main_function:
        return code
    head = re.search(language.main_function + r"\{", code, re.MULTILINE)
    end = None if head is None else language.lexer.end_of(code, start=head.end() - 1)
    return code if head is None or end is None else code[: head.start()] + code[end + 1 :]
