# kinds: plain stdin
# class: processes
# tiers: kernel docker contained
# Tries parts of the kernel with a history.
# Its answer is right if, and only if, the attack failed.
import ctypes
import errno
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
COLUMN = ("x86_64", "aarch64").index(platform.machine())
REFUSED = (errno.EPERM, errno.ENOSYS)

CALLS = {
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "memfd_secret": (447, 447),
    "vmsplice": (278, 75),
    "fanotify_init": (300, 262),
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
