import sys
from collections import defaultdict

lines = sys.stdin
for _ in range(int(lines.readline())):
    lines.readline()
    a = list(map(int, lines.readline().split()))
    groups = defaultdict(list)
    for x in a:
        groups[x >> 2].append(x)
    for group in groups.values():
        group.sort(reverse=True)
    print(*[groups[x >> 2].pop() for x in a])
