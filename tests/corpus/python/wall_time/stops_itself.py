# kinds: plain examined
# class: resources
# seconds: 0.4
import os
import signal


def double(x):
    os.kill(os.getpid(), signal.SIGSTOP)
    return 2 * x
