"""Patterns of Python string literals, in text that need not parse.

Every pattern is linear in the text: quantifiers that could backtrack into each other are
possessive.
"""

TRIPLE_QUOTED = (
    r'(?:"""(?:[^"\\]++|\\[\s\S]|"(?!""))*+(?:""")?+'
    r"|'''(?:[^'\\]++|\\[\s\S]|'(?!''))*+(?:''')?+)"
)
"""Pattern of a string of several lines, finished or not."""


STRING = (
    rf"{TRIPLE_QUOTED}"
    r'|"(?:[^"\\\n]++|\\[\s\S])*+"?+'
    r"|'(?:[^'\\\n]++|\\[\s\S])*+'?+"
    r"|\#[^\n]*+"
)
"""Pattern of any string, finished or not, or of a comment."""
