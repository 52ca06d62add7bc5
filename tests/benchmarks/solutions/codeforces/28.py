for _ in range(int(input())):
    input()
    a = list(map(int, input().split()))
    print("Yes" if sum(x > y for x, y in zip(a, a[1:] + a[:1])) <= 1 else "No")
