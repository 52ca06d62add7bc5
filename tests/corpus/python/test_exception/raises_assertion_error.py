def double(x):
    raise AssertionError
