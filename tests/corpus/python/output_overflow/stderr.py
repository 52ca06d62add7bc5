# kinds: all stdin
# class: resources
import sys


def double(x):
    while True:
        print("x" * 1000, file=sys.stderr)


if __name__ == "__main__":
    double(1)
