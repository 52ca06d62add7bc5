# class: cheats
# denylist
from asyncio import subprocess


def double(x):
    return 2 * x
