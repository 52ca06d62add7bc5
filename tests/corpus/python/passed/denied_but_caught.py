# kinds: all unittest
# denylist
try:
    import subprocess
except ImportError:
    subprocess = None


def double(x):
    assert subprocess is None
    return 2 * x
