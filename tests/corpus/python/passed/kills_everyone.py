# kinds: plain stdin unittest
# class: processes
# tiers: kernel docker
# Its answer is right if, and only if, the attack failed.
import os
import signal


def attack():
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(-1, number)
            return "killed"
        except ProcessLookupError:
            pass  # there is nobody else
        except PermissionError:
            pass


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
