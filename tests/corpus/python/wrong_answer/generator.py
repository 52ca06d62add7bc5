def double(x):
    yield 2 * x
