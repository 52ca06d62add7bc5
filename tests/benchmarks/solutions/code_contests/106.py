for _ in range(int(input())):
    print(*range(2, int(input()) + 2))
