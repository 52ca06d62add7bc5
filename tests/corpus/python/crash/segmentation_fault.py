# kinds: all stdin
# class: processes
# tiers: kernel docker contained portable
import ctypes


def double(x):
    ctypes.string_at(0)


if __name__ == "__main__":
    double(1)
