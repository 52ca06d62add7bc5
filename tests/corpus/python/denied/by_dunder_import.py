# class: cheats
# denylist
__import__("shutil")


def double(x):
    return 2 * x
