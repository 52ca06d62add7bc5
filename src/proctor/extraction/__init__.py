"""Which lines of an answer are code, and by which rule we decided.

One file a language family; what all share is in `markdown.py`. Nothing is ever executed here,
no answer makes extraction raise, and its cost is linear in the length of the answer.
"""

from proctor.errors import InputError
from proctor.extraction.c_family import find_code as find_braces
from proctor.extraction.markdown import normalise
from proctor.extraction.python import find_code as find_python
from proctor.languages import all_languages
from proctor.records.extraction import Extraction, NoCode
from proctor.records.task import Task

__all__ = ["MAX_CHARACTERS", "Extraction", "NoCode", "extract"]

MAX_CHARACTERS = 1 << 20
"""Longer answers are refused: we parse them in our own process."""


def extract(text: str, task: Task, *, truncated: bool) -> Extraction | NoCode:
    """Find the code in a model's answer; `truncated` if its length limit stopped the model."""
    if task.language not in all_languages():
        raise InputError(f"{task.task_id}: no rules to extract {task.language!r} code")
    if len(text) > MAX_CHARACTERS:
        return NoCode(reason=f"the answer is longer than {MAX_CHARACTERS} characters")
    text = normalise(text)
    if not text.strip():
        return NoCode(reason="the answer is empty")
    find = find_python if task.language == "python" else find_braces
    return find(text, task, truncated=truncated)
