for _ in range(int(input())):
    x, p = map(int, input().split())
    y, q = map(int, input().split())
    least = min(p, q)
    left = (len(str(x)) + p, x * 10 ** min(p - least, 7))
    right = (len(str(y)) + q, y * 10 ** min(q - least, 7))
    print("<" if left < right else ">" if left > right else "=")
