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

import os


def attack():
    os.mkdir("proctor-corpus-mount")
    here = os.path.abspath("proctor-corpus-mount").encode()
    if LIBC.mount(b"proctor-corpus", here, b"tmpfs", 0, None) == 0:
        return "mount"
    if LIBC.mount(b"/", here, None, 4096, None) == 0:
        return "bind"
    if LIBC.mount(None, b"/", None, 32, None) == 0:
        return "remount"
    if LIBC.umount2(b"/proc", 2) == 0 or LIBC.umount2(b"/tmp", 2) == 0:
        return "umount"
    if LIBC.chroot(here) == 0:
        return "chroot"


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
