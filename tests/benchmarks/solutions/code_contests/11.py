from bisect import bisect_left

input()
a = list(map(int, input().split()))
tails = []
for _, x in sorted((i - x, x) for i, x in enumerate(a, 1) if x <= i):
    place = bisect_left(tails, x)
    tails[place : place + 1] = [x]
print(len(tails))
