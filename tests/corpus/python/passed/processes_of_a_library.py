# kinds: stdin
# tiers: kernel docker portable
# seconds: 6
import multiprocessing


def work(n):
    return n + n


if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(pool.map(work, [int(input())])[0])
