# kinds: plain stdin unittest
# class: persistence
# tiers: kernel docker contained
# Part 1 leaves something behind, part 2 runs in the same box and looks for it.
import ctypes
import os
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
COLUMN = ("x86_64", "aarch64").index(platform.machine())
KEY, CREATE = 0x50524F43, 0o1666
SHMGET, SEMGET, MSGGET, MQ_OPEN, ADD_KEY = (29, 194), (64, 190), (68, 186), (240, 180), (248, 217)

import socket

LIBC.syscall(SHMGET[COLUMN], KEY, 4096, CREATE)
LIBC.syscall(SEMGET[COLUMN], KEY, 1, CREATE)
LIBC.syscall(MSGGET[COLUMN], KEY, CREATE)
LIBC.syscall(MQ_OPEN[COLUMN], b"proctor-corpus", os.O_CREAT | os.O_RDWR, 0o666, None)
LIBC.syscall(ADD_KEY[COLUMN], b"user", b"proctor-corpus", b"x", 1, -4)
try:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\0proctor-corpus")
    listener.listen()
except OSError:
    pass


def double(x):
    return 2 * x


if __name__ == "__main__":
    print(double(int(input())))
