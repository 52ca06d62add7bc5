# kinds: all unittest
# class: resources
def double(x):
    blocks = []
    while True:
        blocks.append(bytearray(16 << 20))
