# kinds: plain stdin unittest
# class: resources
# tiers: kernel docker
# seconds: 4
# memory: 4096
# Forks until it is told to stop.
# Its answer is right if, and only if, the attack failed.
import os
import time


def attack():
    children = []
    try:
        while len(children) < 1000:
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
            children.append(pid)
    except OSError:
        pass
    for pid in children:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return len(children) >= 64


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
