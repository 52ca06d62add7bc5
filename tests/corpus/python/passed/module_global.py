# kinds: stdin
total = 0


def add(n):
    global total
    total += n


add(int(input()))
add(total)
print(total)
