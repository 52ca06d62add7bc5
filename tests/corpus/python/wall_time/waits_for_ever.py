# kinds: plain check
# class: resources
# seconds: 0.4
import threading


def double(x):
    threading.Event().wait()
