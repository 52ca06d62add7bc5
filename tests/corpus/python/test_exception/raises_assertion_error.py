# class: cheats
def double(x):
    raise AssertionError
