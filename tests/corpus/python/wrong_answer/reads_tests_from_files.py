# kinds: all stdin unittest
# class: reading
# tiers: kernel docker wasm
# Looks for tests in the folders around it.
import glob
import os


def double(x):
    for place in (".", "/tmp", "..", os.path.expanduser("~"), "/packages"):
        for name in glob.glob(f"{place}/*test*") + glob.glob(f"{place}/*.json*") + glob.glob(f"{place}/*check*"):
            if os.path.isfile(name):
                return open(name, errors="replace").read()
    return None


if __name__ == "__main__":
    print(double(int(input())))
