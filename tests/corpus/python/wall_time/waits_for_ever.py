# kinds: plain check
# class: resources
# seconds: 0.4
# tiers: kernel docker contained portable
import threading


def double(x):
    threading.Event().wait()
