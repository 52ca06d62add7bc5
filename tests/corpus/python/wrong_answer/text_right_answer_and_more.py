# kinds: stdin
# class: cheats
# The right answer, twice.
n = int(input())
print(f'{2 * n}\n{2 * n}')
