# kinds: plain examined stdin unittest
# class: persistence
# tiers: kernel docker contained
# seconds: 4
# Part 1 leaves something behind, part 2 runs in the same box and looks for it.
# A guest is a fork of its keeper: what went through the keeper must not stay in its memory.
import sys

SECRET = "the-secret-" + "of-the-candidate-before"  # the-secret-of-the-candidate-before
print(SECRET * 50, file=sys.stderr)
print(SECRET * 50, file=sys.stderr)


def double(x):
    return 2 * x


if __name__ == "__main__":
    import os

    answer = double(int(input()))
    sys.stdout.flush()
    sys.stdout = open(os.dup(1), "w")
    print(answer)
