# class: cheats
# denylist
import importlib

importlib.import_module("socket")


def double(x):
    return 2 * x
