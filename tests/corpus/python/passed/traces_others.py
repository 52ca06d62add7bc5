# kinds: plain stdin
# class: processes
# tiers: kernel docker contained
# Its answer is right if, and only if, the attack failed.
import ctypes
import errno
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
COLUMN = ("x86_64", "aarch64").index(platform.machine())
REFUSED = (errno.EPERM, errno.ENOSYS)

PTRACE, ATTACH, SEIZE = (101, 117), 16, 0x4206


def attack():
    for pid in (1, 2, 3):
        for request in (ATTACH, SEIZE):
            if LIBC.syscall(PTRACE[COLUMN], request, pid, 0, 0) == 0:
                return pid


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
