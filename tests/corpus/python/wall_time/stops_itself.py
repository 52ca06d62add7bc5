# kinds: plain examined
# class: resources
# seconds: 0.4
# tiers: kernel docker contained portable
import os
import signal


def double(x):
    os.kill(os.getpid(), signal.SIGSTOP)
    return 2 * x
