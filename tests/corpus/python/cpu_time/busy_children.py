# kinds: plain check
# class: resources
# tiers: kernel docker portable
# seconds: 0.4
import os


def double(x):
    for _ in range(3):
        if os.fork() == 0:
            while True:
                pass
    while True:
        pass
