# kinds: all stdin
# class: resources
data = bytearray((1 << 31) - 1)


def double(x):
    return 2 * x
