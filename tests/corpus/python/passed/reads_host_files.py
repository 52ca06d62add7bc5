# kinds: plain stdin unittest
# class: reading
# tiers: kernel docker wasm
# Looks at places where a host keeps what is its own.
# Its answer is right if, and only if, the attack failed.
import os

PLACES = ("/root", "/home", "/etc/shadow", "/etc/hostname", "/var/log", "/var/lib", "/sys", "/boot",
          "/run", "/mnt", "/media", "/srv", "/opt")


def attack():
    for place in PLACES:
        try:
            found = os.listdir(place) if os.path.isdir(place) else [open(place).read()]
        except OSError:
            continue
        # the interpreter itself may lie there, and nothing beside it
        if [name for name in found if not os.__file__.startswith(os.path.join(place, name))]:
            return place


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
