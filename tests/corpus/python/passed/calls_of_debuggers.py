# kinds: plain stdin
# class: processes
# tiers: kernel docker contained
# Tries what debuggers look into others with.
# Its answer is right if, and only if, the attack failed.
import ctypes
import errno
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
COLUMN = ("x86_64", "aarch64").index(platform.machine())
REFUSED = (errno.EPERM, errno.ENOSYS)

CALLS = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "perf_event_open": (298, 241),
}


def attack():
    for name, numbers in CALLS.items():
        ctypes.set_errno(0)
        if numbers[COLUMN] and LIBC.syscall(numbers[COLUMN], *[0] * 6) >= 0 or ctypes.get_errno() not in (0, *REFUSED):
            return name, ctypes.get_errno()


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
