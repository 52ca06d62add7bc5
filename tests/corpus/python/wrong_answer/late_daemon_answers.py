# kinds: plain calls
# class: forging
# tiers: kernel docker
# A daemon sends the right answer when the wrong one has been given.
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


import time


def double(x):
    if os.fork() == 0:
        os.setsid()
        time.sleep(0.05)
        answer(2 * x)
        os._exit(0)
    return None
