"""One question as a model gets it."""

import hashlib
from collections.abc import Sequence

import msgspec


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """One question as a model gets it."""

    task_id: str
    text: str
    """To be continued, or all of the turns one after the other."""
    turns: Sequence[tuple[str, str]] = ()
    """Role and words, for models that chat."""
    stop: Sequence[str] = ()
    """Texts at which the answer is over."""

    @property
    def sha256(self) -> str:
        """Digest of all that is shown."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()
