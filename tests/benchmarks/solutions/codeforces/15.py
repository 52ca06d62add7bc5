for _ in range(int(input())):
    p, q, r = map(int, input().split())
    if (p + q + r) % 2:
        print(-1)
    else:
        print(min(p + q, (p + q + r) // 2))
