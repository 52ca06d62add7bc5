# kinds: all unittest
# class: forging
# Puts the start of a message before its answer.
import os

BORDER = os.open("/door/border", os.O_RDONLY) if os.path.isdir("/door") else 3


def double(x):
    os.write(BORDER, b"\x02\x00\x00\x00\x0c")
    return 2 * x
