# class: cheats
def double(x):
    return int(input())
