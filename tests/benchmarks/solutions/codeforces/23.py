import sys
from collections import Counter

input = sys.stdin.readline
for _ in range(int(input())):
    input()
    a = list(map(int, input().split()))
    same, pairs, count = Counter(), Counter(), 0
    for t in zip(a, a[1:], a[2:]):
        for key in ((0, t[1], t[2]), (t[0], 0, t[2]), (t[0], t[1], 0)):
            count += pairs[key] - same[t]
            pairs[key] += 1
        same[t] += 1
    print(count)
