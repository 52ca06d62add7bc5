"""Python: which part of an answer is the program, or the rest of the prompt.

The whole text, if it parses alone or behind the prompt, is never touched. Else every finder in
turn proposes blocks, and the first finder with a block that answers the task (defines its entry
point, completes the prompt, reads standard input) wins. Among several such blocks the last one is
taken: models correct themselves, they seldom do the opposite; a stub that only repeats the
question is no answer. Earlier blocks that define what the chosen one needs are put before it.
If nothing answers the task, the first block that parses is taken, else the first block, so that
broken code is judged as broken and not as missing.

Text is cut only to drop prose. What a model wrote as code is left to Python's own opinion, even
where dropping a broken part would save the rest. Only where the length limit cut the answer is
its unfinished last statement dropped; if the entry point was in it, there is no code.
"""

import re

from proctor.extraction import markdown
from proctor.extraction.markdown import Block
from proctor.extraction.python import syntax
from proctor.extraction.python.blocks import FINDERS, Answer
from proctor.extraction.python.layout import has_definition, indent_of
from proctor.extraction.python.reader import ParsedText, TextParser
from proctor.extraction.tool_wrappers import MAX_REPEATS
from proctor.languages.python import LANGUAGE as PYTHON
from proctor.records.extraction import Extraction, NoCode
from proctor.records.task import Task

_TAG_LINE = re.compile(r"\s*+(?:python3?|py)[ \t]*+\n", re.IGNORECASE)
_LONE_MARK = re.compile(r"^\[(?:BEGIN|DONE|PYTHON)\][ \t]*+$", re.MULTILINE)
"""Lines that other tools ask for and that parse: a list of one name that nobody defines."""
_GUESSES = frozenset({"inline-fence", "doctest", "indented"})
"""Rules that are right only if they find a program with the entry point in it."""
_CUTS = frozenset({"cut-fence", "chat-cut", "cut"})
"""Rules that are right only if what they leave answers the task."""


def find_code(text: str, task: Task, *, truncated: bool) -> Extraction | NoCode:
    """Find the Python code in a normalised answer that is neither empty nor too long."""
    reader = TextParser(task)
    if tag := _TAG_LINE.match(text):  # the fence stood in the prompt, its tag did not
        text = text[tag.end() :]
    is_marked = _LONE_MARK.search(text) is not None
    if not is_marked and (reading := reader.read(text)):
        return _extraction(reading, "continuation" if reading.continues else "whole")
    text, finished = markdown.strip_reasoning(text)
    answer = Answer.of(text, reader, truncated=truncated)
    second_best: Extraction | None = None
    for finder in FINDERS[1:] if is_marked else FINDERS:
        blocks = _shortlist(list(finder(answer)), reader)
        readings = _read(blocks, reader)
        if best := _best(readings, reader):
            return best
        second_best = second_best or _first(readings)
    if second_best and (reader.mentions_entry(second_best.code) or not reader.mentions_entry(text)):
        return second_best
    return _unparsed(answer, finished=finished)


def _shortlist(blocks: list[Block], reader: TextParser) -> list[Block]:
    """Keep the first blocks and the last ones that seem to define the entry point, in order."""
    likely = [number for number, block in enumerate(blocks) if reader.mentions_entry(block.code)]
    kept = {*range(min(MAX_REPEATS, len(blocks))), *likely[-MAX_REPEATS:]}
    return [blocks[number] for number in sorted(kept)]


def _read(blocks: list[Block], reader: TextParser) -> list[tuple[Block, ParsedText]]:
    """Read blocks as they are; mend those that do not parse only if none answers the task."""
    readings = [(block, reader.read(block.code)) for block in blocks]
    if not any(reading and reader.answers(reading) for _, reading in readings):
        readings = [
            (block, reading or (None if block.kind in _GUESSES else reader.mend(block.code)))
            for block, reading in readings
        ]
    return [(block, reading) for block, reading in readings if reading]


def _best(readings: list[tuple[Block, ParsedText]], reader: TextParser) -> Extraction | None:
    """Return the last reading that answers the task, behind the helpers it needs."""
    answers = [
        number
        for number, (block, reading) in enumerate(readings)
        if reader.answers(reading) and not (reading.continues and block.kind in _GUESSES)
    ]
    if not answers:
        return None
    block, reading = readings[answers[-1]]
    helpers = _helpers(reading, [earlier for _, earlier in readings[: answers[-1]]])
    if not helpers:
        return _extraction(reading, block.kind)
    code = "\n".join([*(helper.code for helper in helpers), reading.code])
    return Extraction(code=code, rule=f"joined-{block.kind}")


def _helpers(reading: ParsedText, earlier: list[ParsedText]) -> list[ParsedText]:
    """Return the earlier programs that bind names which this one reads and does not bind."""
    if reading.continues or "__future__" in reading.code:  # which nothing may precede
        return []
    wanted = syntax.unbound_names(reading.tree)
    helpers = []
    for program in reversed([one for one in earlier if not one.continues]):
        bound = syntax.bound_names(program.tree)
        if wanted & bound:
            helpers.append(program)
            wanted = (wanted - bound) | syntax.unbound_names(program.tree)
    return helpers[::-1]


def _first(readings: list[tuple[Block, ParsedText]]) -> Extraction | None:
    """Return the first reading, those of Python's own tag before others."""
    sure = [pair for pair in readings if pair[0].kind not in _GUESSES | _CUTS]
    if not sure:
        return None
    block, reading = min(sure, key=lambda pair: _tag_order(pair[0]))
    return _extraction(reading, block.kind)


def _tag_order(block: Block) -> int:
    if block.tag in PYTHON.fence_tags:
        return 0
    return 2 if block.tag else 1


def _extraction(reading: ParsedText, kind: str) -> Extraction:
    rule = f"{kind}+mended" if reading.mended else kind
    return Extraction(code=reading.code, rule=rule, continues=reading.continues)


def _unparsed(answer: Answer, *, finished: bool) -> Extraction | NoCode:
    """Return code that does not parse, for Python to refuse, or say why there is none."""
    reader, fences = answer.reader, markdown.fences(answer.text)
    before = answer.text[: fences[0].start] if fences else answer.text
    blocks = [block for block in answer.blocks if block.code.strip()]
    is_body = bool(reader.prompt.strip() and before.strip() and indent_of(before.lstrip("\n")))
    if not (is_body or has_definition(before) or blocks):
        trouble = "there is no code in the answer" if finished else "its reasoning never ended"
        return NoCode(reason=trouble)
    if answer.truncated:
        return NoCode(reason="the length limit cut the answer before its code was complete")
    if is_body or has_definition(before):
        return Extraction(code=before, rule="unparsed", continues=is_body)
    blocks.sort(key=lambda block: (not reader.mentions_entry(block.code), _tag_order(block)))
    return Extraction(code=blocks[0].code, rule="unparsed-fence")
