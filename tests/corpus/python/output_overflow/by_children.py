# kinds: plain calls stdin unittest
# class: resources
# tiers: kernel docker portable
# Its children print for it.
import os


def double(x):
    for _ in range(4):
        if os.fork() == 0:
            while True:
                os.write(1, b"x" * 4096)
    os.wait()


if __name__ == "__main__":
    print(double(int(input())))
