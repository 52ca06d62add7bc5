# kinds: all unittest
import io
import sys


def double(x):
    sys.stdout = io.StringIO()
    print("swallowed")
    sys.stderr.close()
    return 2 * x
