# kinds: plain stdin
# class: resources
# tiers: kernel docker
# seconds: 6
# Makes empty files until it is told to stop.
# Its answer is right if, and only if, the attack failed.
import os


def attack():
    count = 0
    try:
        while count < 1 << 16:
            os.close(os.open(f"proctor-corpus-{count}", os.O_CREAT | os.O_WRONLY))
            count += 1
    except OSError:
        return count > 1 << 14
    return "no end"


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
