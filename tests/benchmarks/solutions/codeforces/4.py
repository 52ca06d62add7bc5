import sys
from bisect import bisect_left


def main():
    words = iter(sys.stdin.buffer.read().split())
    out = []
    for _ in range(int(next(words))):
        _, k, q = (int(next(words)) for _ in range(3))
        where = [0] + [int(next(words)) for _ in range(k)]
        when = [0] + [int(next(words)) for _ in range(k)]
        row = []
        for _ in range(q):
            d = int(next(words))
            i = max(1, bisect_left(where, d))
            gone, length = d - where[i - 1], where[i] - where[i - 1]
            row.append(when[i - 1] + gone * (when[i] - when[i - 1]) // length)
        out.append(" ".join(map(str, row)))
    sys.stdout.buffer.write("\n".join(out).encode() + b"\n")


main()
