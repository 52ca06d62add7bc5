# kinds: all unittest
# class: forging
# Leaves in the middle of a message.
import os
import struct

BORDER = os.open("/door/border", os.O_RDONLY) if os.path.isdir("/door") else 3


def double(x):
    os.write(BORDER, struct.pack("<IBI", 100, 12, 1) + b'{"v":')
    os._exit(0)
