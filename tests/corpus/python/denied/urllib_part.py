# class: cheats
# denylist
import urllib.request


def double(x):
    return 2 * x
