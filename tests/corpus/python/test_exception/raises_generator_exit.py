# class: cheats
def double(x):
    raise GeneratorExit
