def double(x):
    return float("nan")
