# kinds: all stdin unittest
# class: cheats
import atexit
import gc
import importlib.abc
import sys
import threading
import weakref


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        return None


class Last:
    def __del__(self):
        print("passed")


sys.settrace(lambda *args: None)
sys.setprofile(lambda *args: None)
threading.settrace(lambda *args: None)
sys.addaudithook(lambda *args: None)
sys.excepthook = sys.unraisablehook = sys.displayhook = lambda *args: None
sys.meta_path.insert(0, Finder())
sys.path_hooks.clear()
gc.callbacks.append(lambda *args: None)
atexit.register(print, "passed")
last = Last()
weakref.finalize(last, print, "passed")


def double(x):
    return 0


if __name__ == "__main__":
    print(double(int(input())))
