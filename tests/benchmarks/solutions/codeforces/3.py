from itertools import groupby

for _ in range(int(input())):
    s = input().strip()
    blocks = len(list(groupby(s)))
    print(blocks - 1 if "01" in s else blocks)
