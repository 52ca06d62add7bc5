# kinds: all unittest
def double(x):
    raise BaseException("not even an Exception")
