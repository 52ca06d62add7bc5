# kinds: plain examined stdin unittest
# class: processes
# tiers: kernel docker
# Sends every signal to the first process, whose memory is its keeper's.
# Its answer is right if, and only if, the attack failed.
import os


def attack():
    for number in range(1, 65):
        try:
            os.kill(1, number)
        except OSError:
            pass
    # who still runs has not killed the first process of its namespace, which would end all


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
