"""A complete, hashable thing to run."""

import hashlib

import msgspec


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """Source text with all that is needed to run it."""

    source: str
    language: str = "python"
    args: tuple[str, ...] = ()
    tests: bool = False
    """Built and run as its language builds and runs files with tests in them."""

    @property
    def sha256(self) -> str:
        """Digest of everything that decides what runs."""
        language = f"{self.language} tests" if self.tests else self.language
        text = "\0".join((language, *self.args, self.source))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
