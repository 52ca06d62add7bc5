# kinds: plain
# class: forging
# seconds: 6
import os
import struct

BORDER = os.open("/door/border", os.O_RDONLY) if os.path.isdir("/door") else 3


def double(x):
    while True:
        os.write(BORDER, struct.pack("<IBI", 1 << 20, 13, 1) + bytes(1 << 20))
