"""Lines by which chat begins after the code of an answer."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from proctor.extraction.markdown import Block
from proctor.extraction.tool_wrappers import MAX_REPEATS

CHAT = re.compile(r"(?:Human|Assistant|User|Explanation)\b *(?::|$)|\*\*|###|---", re.MULTILINE)


def before_chat(text: str, starts: Sequence[int]) -> Iterator[Block]:
    """Yield the text before each statement start that begins chat, the last one first."""
    marks = (start for start in starts[1:] if CHAT.match(text, start))
    for mark in reversed(list(islice(marks, MAX_REPEATS))):
        yield Block(code=text[:mark], kind="chat-cut")
