# kinds: all unittest
# class: forging
# tiers: kernel docker portable
import os


def double(x):
    os.execv("/bin/true", ["true"])
