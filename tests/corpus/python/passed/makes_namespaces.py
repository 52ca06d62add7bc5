# kinds: plain stdin unittest
# class: processes
# tiers: kernel docker contained
# Its answer is right if, and only if, the attack failed.
import ctypes
import errno
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
COLUMN = ("x86_64", "aarch64").index(platform.machine())
REFUSED = (errno.EPERM, errno.ENOSYS)

import os

UNSHARE, SETNS, CLONE, CLONE3 = (272, 97), (308, 268), (56, 220), (435, 435)
NEW = (0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x80)
CLONE_PARENT, SIGCHLD = 0x8000, 17


def attack():
    for flag in NEW:
        if LIBC.syscall(UNSHARE[COLUMN], flag) == 0:
            return "unshare", flag
    for flag in (*NEW, CLONE_PARENT):
        pid = LIBC.syscall(CLONE[COLUMN], flag | SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            os._exit(0)
        if pid > 0:
            return "clone", flag
    if LIBC.syscall(CLONE3[COLUMN], ctypes.create_string_buffer(88), 88) >= 0:
        return "clone3"
    for name in os.listdir("/proc/self/ns"):
        if LIBC.syscall(SETNS[COLUMN], os.open(f"/proc/self/ns/{name}", os.O_RDONLY), 0) == 0:
            return "setns", name


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
