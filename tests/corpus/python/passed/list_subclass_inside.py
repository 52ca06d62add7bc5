# kinds: plain unittest
class Stack(list):
    def __eq__(self, other):
        return list.__eq__(self, other)

    __hash__ = None


def double(x):
    stack = Stack()
    stack.append(x)
    stack.append(x)
    return sum(stack)
