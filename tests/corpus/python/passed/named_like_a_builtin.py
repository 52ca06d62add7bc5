# Names of its own that hide builtins change nothing for the tests.
def abs(x):
    raise RuntimeError


def len(x):
    raise RuntimeError


def double(x):
    return 2 * x
