import threading


def double(x):
    threading.Event().wait()
