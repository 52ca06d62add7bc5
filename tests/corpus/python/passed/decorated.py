import functools


def traced(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@traced
@functools.lru_cache(maxsize=None)
def double(x):
    return 2 * x
