# kinds: plain stdin
# class: resources
# tiers: kernel docker
# seconds: 6
# Writes until there is no more room.
# Its answer is right if, and only if, the attack failed.
import errno
import os


def attack():
    total = 0
    try:
        for number in range(1000):
            with open(f"proctor-corpus-{number}", "wb") as file:
                for _ in range(60):
                    total += file.write(bytes(1 << 20))
    except OSError as error:
        return total > 256 << 20 or error.errno != errno.ENOSPC
    return "no end"


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
