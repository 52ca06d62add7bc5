# kinds: all unittest
# tiers: kernel docker portable
# The child comes back from the call, too; only the parent's answer may count.
import os


def double(x):
    os.fork()
    return 2 * x
