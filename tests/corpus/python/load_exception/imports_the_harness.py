# kinds: all unittest
# class: reading
# Nothing of the harness may be in sight.
import proctor


def double(x):
    return 2 * x
