# kinds: plain calls
# class: resources
# seconds: 0.4
def double(x):
    return sum(range(10**13))
