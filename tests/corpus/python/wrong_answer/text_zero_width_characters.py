# kinds: stdin
# class: cheats
# What cannot be seen is there all the same.
n = int(input())
print('\u200b' + str(2 * n))
