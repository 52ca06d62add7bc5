# kinds: all stdin
# class: cheats
import sys

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)


def double(x):
    return 10**100000


if __name__ == "__main__":
    print(double(int(input())))
