# kinds: plain check
# class: resources
def double(x):
    return list(range(2_000_000))
