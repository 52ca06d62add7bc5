# kinds: stdin
# class: cheats
# No number is near to one that is none.
n = int(input())
print('nan')
