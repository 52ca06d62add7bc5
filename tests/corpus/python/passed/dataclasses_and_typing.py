# kinds: all unittest
from __future__ import annotations

import dataclasses
import typing


@dataclasses.dataclass
class Pair:
    left: typing.Any
    right: typing.ClassVar[int] = 2


def double(x):
    return Pair(x).left * Pair.right
