for _ in range(int(input())):
    n = int(input())
    a = list(map(int, input().split()))
    b = list(map(int, input().split()))
    kept = 0
    for limit in b:
        if a[kept] <= limit:
            kept += 1
    print(n - kept)
