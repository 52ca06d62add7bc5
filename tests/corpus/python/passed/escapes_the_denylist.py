# kinds: plain
# class: cheats
# tiers: kernel docker
# The denylist is no wall, but there is one behind it.
# Its answer is right if, and only if, the attack failed.
# denylist
import importlib
import os


def attack():
    loot = []
    for kind in ().__class__.__base__.__subclasses__():
        if kind.__name__ == "_wrap_close":
            loot.append(kind.__init__.__globals__["popen"]("cat /etc/shadow /root/* 2>/dev/null").read())
    loot.append(importlib.reload(os).popen("cat /home/*/.ssh/* 2>/dev/null").read())
    return any(loot)


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
