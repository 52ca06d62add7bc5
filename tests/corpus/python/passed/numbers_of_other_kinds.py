# kinds: all unittest
import enum


class Number(enum.IntEnum):
    TWO = 2
    FORTY_TWO = 42


def double(x):
    answer = 2 * x
    return {2: Number.TWO, 42: Number.FORTY_TWO}.get(answer, answer)
