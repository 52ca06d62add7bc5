# kinds: all stdin unittest
import warnings


def double(x):
    warnings.warn("this is slow")
    try:
        return x.double()
    except AttributeError:
        pass
    try:
        raise SystemExit
    except SystemExit:
        return 2 * x


if __name__ == "__main__":
    print(double(int(input())))
