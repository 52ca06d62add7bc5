# kinds: plain stdin unittest
# class: resources
# tiers: kernel docker contained portable
# Opens descriptors until it is told to stop.
# Its answer is right if, and only if, the attack failed.
import os


def attack():
    count = 0
    try:
        while count < 5000:
            os.dup(0)
            count += 1
    except OSError:
        pass
    os.closerange(4, 5100)
    return count > 256


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
