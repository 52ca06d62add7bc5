# kinds: unittest
# class: forging
# Reports a test result that is not JSON.
import os
import struct

BORDER = os.open("/door/border", os.O_RDONLY) if os.path.isdir("/door") else 3
LOADED, RESULT = 11, 22


def send(kind, number, payload):
    os.write(BORDER, struct.pack("<IBI", len(payload), kind, number) + payload)


send(LOADED, 0, b'{"stage":"done"}')
send(RESULT, 0, b"{")
os._exit(0)
