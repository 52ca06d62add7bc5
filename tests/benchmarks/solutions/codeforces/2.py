for _ in range(int(input())):
    a, b, c, d = map(int, input().split())
    low, high = min(a, b), max(a, b)
    print("YES" if (low < c < high) != (low < d < high) else "NO")
