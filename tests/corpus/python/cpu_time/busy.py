# kinds: all stdin
def double(x):
    while True:
        pass


if __name__ == "__main__":
    double(1)
