"""Texts that models write when they want more than to be read."""

import pytest

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style></table><script>alert(1)</script>",
    "'; alert(1); '",
    "\x1b[2J\x1b]0;title\x07",
    "[click](javascript:alert(1))",
    "| a | b |\n| --- | --- |",
    "`code` **bold** _em_ # head",
    "@everyone https://example.com/",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "\u202egnp.exe",
    "\ud800",
    "&lt;b&gt; {{7*7}} ${7*7}",
)


@pytest.fixture(params=HOSTILE, ids=range(len(HOSTILE)))
def hostile(request: pytest.FixtureRequest) -> str:
    """Return one of them."""
    text: str = request.param
    return text


@pytest.fixture(scope="session")
def hostile_texts() -> tuple[str, ...]:
    """Return all of them."""
    return HOSTILE
