# kinds: plain calls
# class: forging
import os
import struct

BORDER = os.open("/door/border", os.O_RDONLY) if os.path.isdir("/door") else 3

PAYLOADS = (b"not json", b"[]", b'{"v": {"h": "x"}}', b'{"v": {"?": 1}}', b"\xff\xfe", b"{" * 1000)


def double(x):
    for payload in PAYLOADS[x % len(PAYLOADS) :]:
        os.write(BORDER, struct.pack("<IBI", len(payload), 12, 1) + payload)
    return 2 * x
