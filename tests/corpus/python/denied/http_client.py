# class: cheats
# denylist
from http import client


def double(x):
    return 2 * x
