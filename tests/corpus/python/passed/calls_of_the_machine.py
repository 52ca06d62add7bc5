# kinds: plain stdin
# class: processes
# tiers: kernel docker contained
# Tries to rule the machine, with arguments that would do nothing.
# Its answer is right if, and only if, the attack failed.
import ctypes
import errno
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
COLUMN = ("x86_64", "aarch64").index(platform.machine())
REFUSED = (errno.EPERM, errno.ENOSYS)

CALLS = {
    "reboot": (169, 142),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "acct": (163, 89),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
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
