# kinds: all unittest
# class: processes
# tiers: kernel docker portable
# Whatever it leaves running must not survive it.
import os
import time


def leave_daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)


leave_daemon()


def double(x):
    return 2 * x
