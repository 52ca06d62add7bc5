# kinds: plain calls stdin unittest
# class: resources
# tiers: kernel docker
# Stopped by the limit of processes, ended by that of memory.
import os


def double(x):
    while True:
        try:
            os.fork()
        except OSError:
            pass


if __name__ == "__main__":
    print(double(int(input())))
