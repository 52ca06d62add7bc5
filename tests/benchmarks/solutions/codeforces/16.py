import sys

data = sys.stdin.read().split()
place = 1
for _ in range(int(data[0])):
    n = int(data[place])
    a = list(map(int, data[place + 1 : place + 1 + n]))
    place += n + 1
    longest = 0
    for bit in range(20):
        ones = [i for i, x in enumerate(a) if x >> bit & 1]
        if ones:
            edges = [-1, *ones, n]
            longest = max(longest, max(j - i - 1 for i, j in zip(edges, edges[1:])))
    print(longest + 1)
