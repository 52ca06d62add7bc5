def double(x):
    return "x" * (32 << 20)
