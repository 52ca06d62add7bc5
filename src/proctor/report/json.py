"""A record for programs: one JSON object on one line.

It may end on a terminal all the same, so whatever could steer one is written as an escape, which
means the same to every program that reads JSON.
"""

import json
from typing import Any

from proctor.records.encoding import encode


def render(record: Any) -> str:
    """Return a record as one line of JSON."""
    text = encode(record).decode()
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
