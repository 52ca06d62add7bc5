# kinds: plain calls stdin unittest
# class: resources
# tiers: kernel docker
# Each has less than it may have; all together have more.
import os
import time


def double(x):
    for _ in range(8):
        if os.fork() == 0:
            block = bytearray(120 << 20)
            block[::4096] = b"x" * len(block[::4096])
            time.sleep(60)
    time.sleep(60)


if __name__ == "__main__":
    print(double(int(input())))
