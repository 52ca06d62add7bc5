# kinds: all unittest
import a_module_that_does_not_exist


def double(x):
    return 2 * x
