# kinds: all unittest
# class: forging
# Leaves in the middle of a message.
import os
import struct


def double(x):
    os.write(3, struct.pack("<IBI", 100, 12, 1) + b'{"v":')
    os._exit(0)
