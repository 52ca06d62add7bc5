# kinds: plain check unittest
# class: mistakes
def double(x):
    assert x > 100, "this is not a failed test"
    return 2 * x
