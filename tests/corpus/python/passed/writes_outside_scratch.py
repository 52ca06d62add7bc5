# kinds: plain unittest
# class: processes
# tiers: kernel docker contained wasm
# Its scratch folder is the only place for files.
# Its answer is right if, and only if, the attack failed.
import os
import sys

PLACES = ("/", "/usr", "/usr/bin", "/usr/lib", "/etc", "/dev", "/proc", "/packages", "/var/tmp", "/run", "/home", "/root")


def attack():
    for place in (*PLACES, *sys.path, os.path.dirname(os.__file__), os.path.dirname(sys.executable)):
        name = os.path.join(place or "/", "proctor-corpus")
        try:
            open(name, "w").close()
            os.unlink(name)
            return name
        except OSError:
            pass
    for name in ("/etc/passwd", "/bin/sh", os.__file__, sys.executable):
        try:
            os.write(os.open(name, os.O_WRONLY), b"")
            return name
        except OSError:
            pass


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
