# kinds: plain stdin unittest
# class: processes
# tiers: kernel docker
# Its answer is right if, and only if, the attack failed.
import os
import signal
import time


def attack():
    parent = os.getppid()
    if parent:
        os.kill(parent, signal.SIGKILL)  # the first process of a pid namespace does not hear it
        time.sleep(0.05)
        return None if os.getppid() == parent else "killed"


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
