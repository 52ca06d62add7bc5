# kinds: stdin
# tiers: kernel docker contained portable
# What programs for contests begin with.
import sys
import threading

sys.setrecursionlimit(1 << 20)


def count(n):
    return 0 if n == 0 else 1 + count(n - 1)


def main():
    n = int(input())
    assert count(20000) == 20000
    print(2 * n)


threading.stack_size(64 << 20)
thread = threading.Thread(target=main)
thread.start()
thread.join()
