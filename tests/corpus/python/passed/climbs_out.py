# kinds: plain stdin
# class: reading
# tiers: kernel docker
# Looks above the root.
# Its answer is right if, and only if, the attack failed.
import os


def attack():
    here = os.open(".", os.O_RDONLY)
    for _ in range(20):
        here = os.open("..", os.O_RDONLY, dir_fd=here)
    seen = set(os.listdir(here)) | set(os.listdir("/../../.."))
    return [name for name in ("root", "home", "var", "boot", "sys", "old") if name in seen and name not in os.__file__]


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
