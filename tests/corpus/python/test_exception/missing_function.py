# kinds: all unittest
def dubble(x):
    return 2 * x
