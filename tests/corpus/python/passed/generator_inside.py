# kinds: plain stdin unittest
def halves(x):
    yield x
    yield x


def double(x):
    return sum(halves(x))


if __name__ == "__main__":
    print(double(int(input())))
