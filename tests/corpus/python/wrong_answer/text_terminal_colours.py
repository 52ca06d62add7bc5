# kinds: stdin
# class: cheats
# What cannot be seen is there all the same.
n = int(input())
print(f'\x1b[31m{2 * n}\x1b[0m')
