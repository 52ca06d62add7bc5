# class: forging
# tiers: kernel docker portable
# A child sends the right answer, then its parent sends another.
import json
import os
import struct
import sys


def number():
    """Return the number of the request that is being answered."""
    frame = sys._getframe()
    while frame is not None:
        if "frame" in frame.f_locals and hasattr(frame.f_locals["frame"], "number"):
            return frame.f_locals["frame"].number
        frame = frame.f_back


def answer(value):
    payload = json.dumps({"v": value}).encode()
    os.write(3, struct.pack("<IBI", len(payload), 12, number()) + payload)


def double(x):
    if os.fork() == 0:
        answer(2 * x)
        os._exit(0)
    os.wait()
    return None
