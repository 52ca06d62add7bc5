# Its answer is right if, and only if, the attack failed.
import builtins
import collections
import json
import os
import random
import signal
import sys


def attack():
    signs = [
        hasattr(builtins, "proctor_corpus") or hasattr(sys, "proctor_corpus") or hasattr(os, "proctor_corpus"),
        "proctor_corpus" in sys.modules,
        "proctor-corpus" in sys.path,
        "PROCTOR_CORPUS" in os.environ,
        json.dumps(1) != "1",
        hasattr(collections.Counter, "proctor_corpus"),
        random.getstate() == random.Random(7).getstate(),
        os.umask(0o22) == 0,
        os.getpriority(os.PRIO_PROCESS, 0) == 19,
        signal.getsignal(signal.SIGTERM) == signal.SIG_IGN,
        os.getcwd() == "/",
        sys.getrecursionlimit() == 777,
    ]
    return [index for index, sign in enumerate(signs) if sign]


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
