# kinds: plain stdin
# class: resources
# tiers: kernel docker contained
# seconds: 4
# Memory of the kernel, by pipes that nobody reads.
# Its answer is right if, and only if, the attack failed.
import fcntl
import os


def attack():
    total = 0
    pipes = []
    try:
        while True:
            reading, writing = os.pipe()
            pipes.append(reading)
            try:
                fcntl.fcntl(writing, 1031, 1 << 20)
            except OSError:
                pass
            os.set_blocking(writing, False)
            try:
                while True:
                    total += os.write(writing, bytes(1 << 16))
            except BlockingIOError:
                pass
    except OSError:
        pass  # no more descriptors
    return total > 100 << 20


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
