# kinds: plain calls stdin unittest
# class: resources
# tiers: kernel docker portable
# seconds: 0.4
import os
import signal
import time


def double(x):
    for _ in range(5):
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
    os.wait()


if __name__ == "__main__":
    print(double(int(input())))
