# kinds: all stdin unittest
# class: processes
# tiers: kernel docker contained portable
import os
import signal


def double(x):
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    double(1)
