# kinds: plain unittest
class Number:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value

    def __add__(self, other):
        return Number(self.value + other.value)

    def __hash__(self):
        return hash(self.value)


def double(x):
    number = Number(x)
    assert number == Number(x)
    return (number + number).value
