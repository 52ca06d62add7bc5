from math import isqrt


def below(bound, x):
    """Return how many y >= 0 have x*x + y*y < bound."""
    rest = bound - x * x
    return 0 if rest <= 0 else isqrt(rest - 1) + 1


for _ in range(int(input())):
    r = int(input())
    print(4 * sum(below((r + 1) ** 2, x) - below(r * r, x) for x in range(1, r + 1)))
