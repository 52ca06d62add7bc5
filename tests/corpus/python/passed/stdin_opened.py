# kinds: stdin
n = int(open(0).read())
print(2 * n)
