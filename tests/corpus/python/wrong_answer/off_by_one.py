# kinds: all unittest
def double(x):
    return 2 * x + 1
