"""Which lines of an answer are code, and by which rule we decided."""

import msgspec


class Extraction(msgspec.Struct, frozen=True, kw_only=True):
    """The code found in an answer."""

    code: str
    rule: str
    """Name of the rule that found it; receipts record it."""


class NoCode(msgspec.Struct, frozen=True, kw_only=True):
    """No code was found."""

    reason: str
