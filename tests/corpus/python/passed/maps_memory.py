# kinds: plain stdin unittest
# tiers: kernel docker contained portable
# Memory mapped from a file, and of its own.
import mmap


def double(x):
    with open("proctor-corpus-map", "w+b") as file:
        file.truncate(1 << 20)
        with mmap.mmap(file.fileno(), 0) as shared, mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as own:
            own.write(repr(2 * x).encode())
            shared[: own.tell()] = own[: own.tell()]
            return type(x)(shared[: own.tell()].decode())


if __name__ == "__main__":
    print(double(int(input())))
