# kinds: all unittest
# class: forging
# Reports an exception whose line number is infinite.
import os
import struct

BORDER = os.open("/door/border", os.O_RDONLY) if os.path.isdir("/door") else 3
LOADED, RAISED = 11, 13


def send(kind, number, payload):
    os.write(BORDER, struct.pack("<IBI", len(payload), kind, number) + payload)


send(LOADED, 0, b'{"stage":"done"}')
send(
    RAISED,
    1,
    b'{"own":[],"standard":"E","text":"t","line":1e309,"exit":false,"denied":false,"memory":false}',
)
os._exit(0)
