# kinds: plain
# class: forging
# seconds: 6
import os
import struct


def double(x):
    while True:
        os.write(3, struct.pack("<IBI", 1 << 20, 13, 1) + bytes(1 << 20))
