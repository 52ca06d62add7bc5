for _ in range(int(input())):
    m, x = map(int, input().split())
    least = {0: 0}  # happiness: the least that it costs
    for month in range(m):
        c, h = map(int, input().split())
        for happy, cost in sorted(least.items(), reverse=True):
            if cost + c <= month * x and cost + c < least.get(happy + h, 10**18):
                least[happy + h] = cost + c
    print(max(least))
