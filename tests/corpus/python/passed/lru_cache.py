# kinds: all stdin unittest
from functools import lru_cache


@lru_cache(maxsize=None)
def double(x):
    return x + x


if __name__ == "__main__":
    print(double(int(input())))
