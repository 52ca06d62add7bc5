# kinds: plain stdin unittest
# class: processes
# tiers: kernel docker
# Its answer is right if, and only if, the attack failed.
import os
import signal


def attack():
    parent = os.getppid()
    if parent:
        os.kill(parent, signal.SIGKILL)
        return "killed"


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
