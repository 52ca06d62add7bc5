for _ in range(int(input())):
    n, k = map(int, input().split())
    print(sum(pow(n, i, 10**9 + 7) for i in range(k.bit_length()) if k >> i & 1) % (10**9 + 7))
