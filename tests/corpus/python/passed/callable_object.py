# kinds: all unittest
class Doubler:
    def __call__(self, x):
        return 2 * x


double = Doubler()
