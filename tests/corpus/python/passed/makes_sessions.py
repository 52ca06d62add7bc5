# kinds: plain stdin
# class: resources
# tiers: kernel docker
# The kernel shares processors among sessions: who has many has more of them than others.
# Its answer is right if, and only if, the attack failed.
import os


def attack():
    reading, writing = os.pipe()
    if os.fork() == 0:
        try:
            os.setsid()
            os.write(writing, b"new" if os.getsid(0) == os.getpid() else b"old")
        finally:
            os._exit(0)
    os.wait()
    return os.read(reading, 3) == b"new"


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
