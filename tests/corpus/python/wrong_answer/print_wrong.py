# kinds: stdin
print(2 * int(input()) + 1)
