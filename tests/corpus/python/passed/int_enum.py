# kinds: all stdin unittest
# Members of an IntEnum are integers.
import enum


class Doubles(enum.IntEnum):
    one = 2
    twentyone = 42
    three = -6


def double(x):
    return 2 * x if isinstance(x, float) else Doubles(2 * x)


if __name__ == "__main__":
    print(int(double(int(input()))))
