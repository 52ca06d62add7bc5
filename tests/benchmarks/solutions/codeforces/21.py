for _ in range(int(input())):
    x, y = map(int, input().split())
    print(max((y + 1) // 2, (x + 4 * y + 14) // 15))
