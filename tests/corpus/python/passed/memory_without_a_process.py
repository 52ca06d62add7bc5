# kinds: plain stdin
# class: resources
# tiers: kernel docker contained
# Memory that belongs to no process is memory that no limit counts.
# Its answer is right if, and only if, the attack failed.
import ctypes
import os
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
COLUMN = ("x86_64", "aarch64").index(platform.machine())
CALLS = {"memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194)}


def attack():
    if LIBC.syscall(CALLS["memfd_create"][COLUMN], b"x", 0) >= 0 or LIBC.syscall(CALLS["memfd_secret"][COLUMN], 0) >= 0:
        return "memfd"
    return LIBC.syscall(CALLS["shmget"][COLUMN], 0, 1 << 30, 0o1600) >= 0


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
