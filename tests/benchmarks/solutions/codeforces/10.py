for _ in range(int(input())):
    n, k = map(int, input().split())
    a = list(map(int, input().split()))
    low, high = 0, 10**13
    while low < high:
        middle = (low + high + 1) // 2
        if sum(middle - x for x in a if x < middle) <= k:
            low = middle
        else:
            high = middle - 1
    left = k - sum(low - x for x in a if x < low)
    print(n * (low - 1) + 1 + left + sum(x > low for x in a))
