# kinds: plain calls unittest
# class: forging
# The same with a reason, which reads as a message that is far too long.
import os


def double(x):
    for fd in range(3, 64):
        try:
            os.write(fd, b"FOSError: [Errno 1] unshare: Operation not permitted")
        except OSError:
            pass
    os._exit(120)
