# kinds: all unittest
class Meters(int):
    pass


def double(x):
    return Meters(2 * x) if isinstance(x, int) else 2 * x
