# kinds: plain calls unittest
# class: forging
# Announces a message of four gigabytes.
import os
import struct


def double(x):
    os.write(3, struct.pack("<IBI", 0xFFFFFFFF, 12, 1) + b"x" * 1000)
    return 2 * x
