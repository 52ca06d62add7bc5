def double(x):
    raise GeneratorExit
