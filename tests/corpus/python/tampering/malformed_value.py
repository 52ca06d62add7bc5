# class: forging
import sys

for module in list(sys.modules.values()):
    if hasattr(module, "pack_contents"):
        module.dump = lambda message: b'{"v": {"i": "not a number"}}'


def double(x):
    return 2 * x
