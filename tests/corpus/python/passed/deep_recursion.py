# kinds: all unittest
import sys

sys.setrecursionlimit(20_000)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def double(x):
    assert depth(10_000) == 10_000
    return 2 * x
