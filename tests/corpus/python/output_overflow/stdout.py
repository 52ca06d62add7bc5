# kinds: all stdin unittest
# class: resources
def double(x):
    while True:
        print("x" * 1000)


if __name__ == "__main__":
    double(1)
