# kinds: stdin
# class: cheats
# As much as a lazy comparison would look at.
n = int(input())
print(str(2 * n)[:1] if n > 9 else '')
