# kinds: unittest
# class: forging
# Reports megabytes about tests that do not exist.
import os
import struct

BORDER = os.open("/door/border", os.O_RDONLY) if os.path.isdir("/door") else 3
LOADED, RESULT = 11, 22


def send(kind, number, payload):
    data = struct.pack("<IBI", len(payload), kind, number) + payload
    while data:
        data = data[os.write(BORDER, data) :]


send(LOADED, 0, b'{"stage":"done"}')
for index in range(20):
    got = b"x" * 1_000_000
    send(RESULT, index, b'{"why":"wrong","detail":"","got":"' + got + b'"}')
os._exit(0)
