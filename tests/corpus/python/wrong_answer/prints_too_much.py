# kinds: stdin
n = int(input())
print(2 * n)
print(2 * n)
