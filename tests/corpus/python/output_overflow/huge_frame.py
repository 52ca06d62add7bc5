# kinds: plain calls unittest
# class: forging
# Announces a message of four gigabytes.
import os
import struct

BORDER = os.open("/door/border", os.O_RDONLY) if os.path.isdir("/door") else 3


def double(x):
    os.write(BORDER, struct.pack("<IBI", 0xFFFFFFFF, 12, 1) + b"x" * 1000)
    return 2 * x
