# kinds: all stdin
def double(x:
    return 2 * x
