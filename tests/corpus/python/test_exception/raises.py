# kinds: all unittest
def double(x):
    raise ValueError("no")
