def double(x):
    return int(input())
