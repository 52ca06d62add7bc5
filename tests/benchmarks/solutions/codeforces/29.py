for _ in range(int(input())):
    input()
    a = list(map(int, input().split()))
    rest = [x for x in a if x % min(a)]
    print("Yes" if all(x % min(rest) == 0 for x in rest) else "No")
