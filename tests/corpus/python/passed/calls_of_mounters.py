# kinds: plain stdin
# class: processes
# tiers: kernel docker contained
# Tries what file systems are changed with.
# Its answer is right if, and only if, the attack failed.
import ctypes
import errno
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
COLUMN = ("x86_64", "aarch64").index(platform.machine())
REFUSED = (errno.EPERM, errno.ENOSYS)

CALLS = {
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "swapon": (167, 224),
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
