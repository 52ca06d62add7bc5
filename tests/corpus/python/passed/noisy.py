# kinds: all unittest
import sys

print("loading")


def double(x):
    print("computing", x)
    print("to stderr, too", file=sys.stderr)
    return 2 * x
