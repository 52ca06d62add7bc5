# kinds: stdin
# class: cheats
# Digits that Python reads and nobody expects.
n = int(input())
print(str(2 * n).translate({48 + d: 0xFF10 + d for d in range(10)}))
