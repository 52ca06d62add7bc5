# kinds: plain unittest
from collections import namedtuple

Pair = namedtuple("Pair", "left right")


def double(x):
    pair = Pair(x, x)
    return pair.left + pair.right
