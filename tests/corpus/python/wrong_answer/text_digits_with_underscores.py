# kinds: stdin
# class: cheats
# Digits that Python reads and nobody expects.
n = int(input())
print('_'.join(str(2 * n)) if n > 9 else '0_2')
