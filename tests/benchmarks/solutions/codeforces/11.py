for _ in range(int(input())):
    n, m = map(int, input().split())
    print(sum((n + b) // (b * b) for b in range(1, m + 1)) - 1)
