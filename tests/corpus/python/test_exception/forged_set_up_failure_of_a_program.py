# kinds: stdin
# class: forging
import os

for fd in range(3, 64):
    try:
        os.write(fd, b"FOSError: [Errno 1] unshare: Operation not permitted")
    except OSError:
        pass
os._exit(120)
