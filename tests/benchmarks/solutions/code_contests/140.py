from math import isqrt


def root(n, k):
    r = round(n ** (1 / k))
    while r**k > n:
        r -= 1
    while (r + 1) ** k <= n:
        r += 1
    return r


for _ in range(int(input())):
    n = int(input())
    print(isqrt(n) + root(n, 3) - root(n, 6))
