# kinds: plain stdin
# class: processes
# tiers: kernel docker
# Its answer is right if, and only if, the attack failed.
import os


def attack():
    for name in os.listdir("/dev"):
        if name not in ("null", "zero", "full", "random", "urandom", "fd", "stdin", "stdout", "stderr", "shm", "tty", "ptmx", "pts"):
            return name
    try:
        os.mknod("/tmp/proctor-corpus-device", 0o60600, os.makedev(8, 0))
        return "mknod"
    except OSError:
        pass


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
