# kinds: stdin
# class: cheats
# Near, but not near enough.
n = int(input())
print(2 * n + 0.01)
