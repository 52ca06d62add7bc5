"""Text functions under the names and with the habits of other tools.

They are small rules of their own, for users who bring code that calls them; Proctor itself reads
answers with `proctor.extraction`, which knows the task.
"""

import re

from proctor.extraction.assemble import BASE_IMPORTS
from proctor.extraction.markdown import normalise, strip_reasoning

__all__ = [
    "BASE_IMPORTS",
    "extract_code",
    "extract_code_from_model",
    "extract_python_code",
    "strip_markdown_fences",
]

_BLOCK = re.compile(r"```[\w+#.-]*+[ \t]*+\r?\n(.*?)```", re.DOTALL)
_FENCE_LINE = re.compile(r"[ \t]*+(?:`{3,}+|~{3,}+)[\w+#.{} \t-]*+")
_NOT_PYTHON = re.compile(r"(?:Human|Assistant|User)[ \t]*+:?(?:[ \t]|$)|\*\*|###|---")


def extract_code(text: str) -> str | None:
    """Return the first fenced block; all of a text without fences; None if a fence stays open."""
    block = _BLOCK.search(text)
    if block:
        return block[1]
    return None if "```" in text else text


def extract_code_from_model(model_response: str) -> str | None:
    """Return the last fenced block without the white space around it, or None."""
    blocks = _BLOCK.findall(model_response)
    return blocks[-1].strip() if blocks else None


def strip_markdown_fences(text: str) -> str:
    """Drop the lines that are fences, and nothing else."""
    return "\n".join(line for line in text.split("\n") if not _FENCE_LINE.fullmatch(line))


def extract_python_code(text: str) -> str:
    """Drop reasoning and fences, and all from the first line on that cannot be Python."""
    lines = strip_markdown_fences(strip_reasoning(normalise(text))[0]).split("\n")
    end = next((n for n, line in enumerate(lines) if _NOT_PYTHON.match(line)), len(lines))
    return "\n".join(lines[:end]).strip("\n")
