# kinds: all unittest
# class: processes
import os


def double(x):
    os.abort()
