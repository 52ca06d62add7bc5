# kinds: all unittest
# class: forging
def double(x):
    quit()
