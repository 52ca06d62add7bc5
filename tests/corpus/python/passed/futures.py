# kinds: plain stdin unittest
# tiers: kernel docker contained portable
from concurrent.futures import ThreadPoolExecutor


def double(x):
    with ThreadPoolExecutor(4) as pool:
        return sum(pool.map(lambda n: n, [x, x]))


if __name__ == "__main__":
    print(double(int(input())))
