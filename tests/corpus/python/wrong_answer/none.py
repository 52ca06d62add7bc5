# kinds: all unittest
def double(x):
    print(2 * x)
