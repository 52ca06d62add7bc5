# kinds: all stdin unittest
# class: resources
# seconds: 0.4
import time


def double(x):
    time.sleep(1000)


if __name__ == "__main__":
    double(1)
