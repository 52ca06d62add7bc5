# kinds: all stdin unittest
seen = {}
count = 0


def double(x):
    global count
    count += 1
    seen.setdefault(x, 2 * x)
    return seen[x]


if __name__ == "__main__":
    print(double(int(input())))
