import sys

MOD = 998244353
n, *a = map(int, sys.stdin.read().split())
last, total, stack = 1, 0, []  # stack of [least, sum of what begins there]; total is their product
for x in a:
    weight = last
    while stack and stack[-1][0] >= x:
        least, part = stack.pop()
        total -= least * part
        weight += part
    stack.append([x, weight])
    total = (total + x * weight) % MOD
    last = -total
print(last * (-1) ** n % MOD)
