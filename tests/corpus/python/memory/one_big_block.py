# kinds: all stdin
# class: resources
data = bytearray(4 << 30)


def double(x):
    return 2 * x
