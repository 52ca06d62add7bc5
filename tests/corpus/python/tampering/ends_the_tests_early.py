# kinds: unittest
# class: forging
# Ends the examination with a token that it made up.
import os
import struct
import sys

BORDER = os.open("/door/border", os.O_RDONLY) if os.path.isdir("/door") else 3


def double(x):
    payload = b'{"ending": null, "notes": [], "token": "0123456789abcdef0123456789abcdef"}'
    os.write(BORDER, struct.pack("<IBI", len(payload), 23, 0) + payload)
    os._exit(0)
