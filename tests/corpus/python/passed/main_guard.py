# kinds: all unittest
def double(x):
    return 2 * x


if __name__ == "__main__":
    raise SystemExit("the tests are not run as a program")
