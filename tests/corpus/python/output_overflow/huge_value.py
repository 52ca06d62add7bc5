# kinds: plain examined calls
# class: resources
def double(x):
    return "x" * (32 << 20)
