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

READ, WRITE = (310, 270), (311, 271)


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def attack():
    buffer = ctypes.create_string_buffer(16)
    here = Piece(ctypes.addressof(buffer), 16)  # its keeper has the same addresses
    for pid in (1, 2, 3):
        for call in (READ, WRITE):
            if LIBC.syscall(call[COLUMN], pid, ctypes.byref(here), 1, ctypes.byref(here), 1, 0) > 0:
                return pid
        try:
            open(f"/proc/{pid}/mem", "rb").close()
            if pid != __import__("os").getpid():
                return pid
        except OSError:
            pass


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
