# kinds: plain stdin
# class: processes
# tiers: kernel docker
# Its answer is right if, and only if, the attack failed.
import os
import signal


def attack():
    killed = []
    for pid in range(2, 1 << 16):
        if pid != os.getpid():
            try:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
            except OSError:
                pass
    return killed


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
