"""A complete, hashable thing to run, and how a task and an extraction become one."""

import hashlib

import msgspec


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """Source text with all that is needed to run it."""

    source: str
    language: str = "python"
    args: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """Digest of everything that decides what runs."""
        text = "\0".join((self.language, *self.args, self.source))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
