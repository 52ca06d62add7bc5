def double(x):
    raise ValueError("no")
