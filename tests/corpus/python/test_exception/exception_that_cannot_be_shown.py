# class: cheats
class Rude(Exception):
    def __str__(self):
        raise RuntimeError

    __repr__ = __str__


def double(x):
    raise Rude(x, object())
