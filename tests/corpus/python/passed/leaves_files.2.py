# Its answer is right if, and only if, the attack failed.
import os
import sys

PLACES = (".", "/tmp", "/var/tmp", "/dev/shm", "/run", "/packages", os.path.expanduser("~"), *sys.path)


def attack():
    for place in PLACES:
        for name in ("proctor-corpus", "sitecustomize.py", "usercustomize.py", "conftest.py", "proctor-corpus.pth", "json.py", "python3"):
            try:
                if "proctor-corpus" in open(os.path.join(place, name)).read():
                    return name
            except OSError:
                pass
    return hasattr(sys, "proctor_corpus")


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
