# class: forging
# Sends the right answer twice.
import json
import os
import struct
import sys

BORDER = os.open("/door/border", os.O_RDONLY) if os.path.isdir("/door") else 3


def number():
    """Return the number of the request that is being answered."""
    frame = sys._getframe()
    while frame is not None:
        if "frame" in frame.f_locals and hasattr(frame.f_locals["frame"], "number"):
            return frame.f_locals["frame"].number
        frame = frame.f_back


def answer(value):
    payload = json.dumps({"v": value}).encode()
    os.write(BORDER, struct.pack("<IBI", len(payload), 12, number()) + payload)


def double(x):
    answer(2 * x)
    return 2 * x
