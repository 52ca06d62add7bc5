# kinds: plain stdin unittest
# class: persistence
# tiers: kernel docker contained wasm
# Part 1 leaves something behind, part 2 runs in the same box and looks for it.
import os
import sys

MARK = "proctor-corpus"
PLACES = (".", "/tmp", "/var/tmp", "/dev/shm", "/run", "/packages", os.path.expanduser("~"), *sys.path)
for place in PLACES:
    for name in (MARK, "sitecustomize.py", "usercustomize.py", "conftest.py", f"{MARK}.pth", "json.py", "python3"):
        try:
            with open(os.path.join(place, name), "x") as file:
                file.write(MARK)
        except OSError:
            pass
site = os.path.expanduser(f"~/.local/lib/python3.{sys.version_info.minor}/site-packages")
try:
    os.makedirs(site)
    open(f"{site}/{MARK}.pth", "w").write("import sys; sys.proctor_corpus = 1")
except OSError:
    pass


def double(x):
    return 2 * x


if __name__ == "__main__":
    print(double(int(input())))
