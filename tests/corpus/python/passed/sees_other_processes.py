# kinds: plain stdin unittest
# class: processes
# tiers: kernel docker
# Looks for any process but itself.
# Its answer is right if, and only if, the attack failed.
import os


def attack():
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid()]


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
