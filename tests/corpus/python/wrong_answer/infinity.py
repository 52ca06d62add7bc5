# kinds: all stdin unittest
# class: cheats
def double(x):
    return float("inf")


if __name__ == "__main__":
    print(double(int(input())))
