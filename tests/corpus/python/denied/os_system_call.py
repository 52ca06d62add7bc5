# class: cheats
# denylist
import os


def double(x):
    os.system("true")
    return 2 * x
