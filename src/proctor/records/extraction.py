"""What extraction finds in an answer: code, or the reason why there is none."""

import msgspec


class Extraction(msgspec.Struct, frozen=True, kw_only=True):
    """The code found in an answer."""

    code: str
    rule: str
    """Name of the rule that found it; receipts record it."""
    continues: bool = False
    """The code goes on where the task's prompt stops; else it is a program of its own."""


class NoCode(msgspec.Struct, frozen=True, kw_only=True):
    """No code was found."""

    reason: str
