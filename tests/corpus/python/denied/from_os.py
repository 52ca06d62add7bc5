# class: cheats
# denylist
from os import system


def double(x):
    return 2 * x
