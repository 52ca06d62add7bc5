# class: cheats
def double(x):
    return 2 * x


assert double(2) == 5
