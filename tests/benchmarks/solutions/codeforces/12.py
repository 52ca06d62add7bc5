from math import gcd, isqrt

for _ in range(int(input())):
    n, m = map(int, input().split())
    count = 0
    for p in range(1, isqrt(n) + 1):
        for q in range(1, isqrt(m) + 1):
            if gcd(p, q) == 1:
                count += min(n // p, m // q) // (p + q)
    print(count)
