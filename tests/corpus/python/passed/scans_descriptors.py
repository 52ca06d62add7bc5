# kinds: plain examined calls stdin unittest
# class: reading
# Looks for descriptors that somebody forgot to close.
# Its answer is right if, and only if, the attack failed.
import os


def attack():
    found = []
    for fd in range(1024):
        try:
            os.fstat(fd)
            found.append((fd, os.readlink(f"/proc/self/fd/{fd}")))
        except OSError:
            pass
    own = ("pipe:", "socket:", "/dev/null", "/null")  # its streams and its border, nothing of ours
    return len(found) > 4 or [place for _, place in found if not place.startswith(own)]


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
