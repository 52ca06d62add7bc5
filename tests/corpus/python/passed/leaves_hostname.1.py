# kinds: plain stdin
# class: persistence
# tiers: kernel docker contained
# Part 1 leaves something behind, part 2 runs in the same box and looks for it.
import socket

try:
    socket.sethostname("proctor-corpus")
except OSError:
    pass


def double(x):
    return 2 * x


if __name__ == "__main__":
    print(double(int(input())))
