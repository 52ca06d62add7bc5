# kinds: plain
# class: resources
# seconds: 10
def double(x):
    bomb = [0]
    for _ in range(50):
        bomb = [bomb] * 10
    return bomb
