import sys
from heapq import heappop, heappush

lines = iter(sys.stdin)
for _ in range(int(next(lines))):
    _, x = map(int, next(lines).split())
    money, bought = 0, []
    for c in map(int, next(lines).split()):
        heappush(bought, -c)
        money -= c
        if money < 0:
            money -= heappop(bought)
        money += x
    print(len(bought))
