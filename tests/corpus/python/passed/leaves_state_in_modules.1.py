# kinds: plain examined stdin unittest
# class: persistence
# tiers: kernel docker contained
# Part 1 leaves something behind, part 2 runs in the same box and looks for it.
import builtins
import collections
import json
import math
import os
import random
import signal
import sys
import time

MARK = "proctor-corpus"
builtins.proctor_corpus = sys.proctor_corpus = os.proctor_corpus = 1
sys.modules["proctor_corpus"] = sys
sys.path.insert(0, MARK)
os.environ["PROCTOR_CORPUS"] = MARK
json.dumps = json.loads = math.isclose = time.time = lambda *args, **kwargs: MARK
collections.Counter.proctor_corpus = None
random.seed(7)
os.umask(0)
try:
    os.nice(19)
except OSError:
    pass
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.chdir("/")
sys.setrecursionlimit(777)


def double(x):
    return 2 * x


if __name__ == "__main__":
    print(double(int(input())))
