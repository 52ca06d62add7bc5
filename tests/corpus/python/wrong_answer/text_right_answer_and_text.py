# kinds: stdin
# class: cheats
# The right answer, with words around it.
n = int(input())
print(f'the answer is {2 * n}')
