"""Exactly what the model is shown."""

import hashlib

import msgspec

from proctor.task import Task


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """One question as a model gets it."""

    task_id: str
    text: str

    @property
    def sha256(self) -> str:
        """Digest of the text."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


def render(task: Task) -> Prompt:
    """Show a task as its benchmark has it, to be continued."""
    return Prompt(task_id=task.task_id, text=task.prompt)
