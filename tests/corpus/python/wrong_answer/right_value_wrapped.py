# kinds: all unittest
# class: cheats
def double(x):
    return (2 * x,)
