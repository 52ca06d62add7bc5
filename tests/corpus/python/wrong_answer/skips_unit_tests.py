# kinds: unittest
# class: cheats
# A skipped test has not passed.
import unittest


def double(x):
    raise unittest.SkipTest("not today")
