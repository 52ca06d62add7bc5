# kinds: all stdin unittest
# tiers: kernel docker contained portable
# packages: numpy
# Numbers of numpy are numbers.
import numpy as np


def double(x):
    return np.float64(2 * x) if isinstance(x, float) else np.int64(2 * x)


if __name__ == "__main__":
    print(double(int(input())))
