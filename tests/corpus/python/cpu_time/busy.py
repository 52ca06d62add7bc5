# kinds: all stdin unittest
# class: resources
# seconds: 0.4
def double(x):
    while True:
        pass


if __name__ == "__main__":
    double(1)
