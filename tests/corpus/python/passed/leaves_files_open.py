# kinds: plain stdin unittest
files = [open(f"proctor-corpus-{n}", "w") for n in range(50)]


def double(x):
    files[0].write("x")
    return 2 * x


if __name__ == "__main__":
    print(double(int(input())))
