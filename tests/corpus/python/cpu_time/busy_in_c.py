def double(x):
    return sum(range(10**13))
