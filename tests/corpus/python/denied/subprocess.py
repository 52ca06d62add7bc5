# kinds: all unittest
# class: cheats
# denylist
import subprocess


def double(x):
    return 2 * x
