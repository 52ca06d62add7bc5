# kinds: all unittest
# class: resources
import os

done = []


def double(x):
    if not done:
        done.append(1)
        os.write(1, b"x" * 300_000)
    return 2 * x
