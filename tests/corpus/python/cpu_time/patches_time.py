# kinds: plain check stdin unittest
# class: cheats
# seconds: 0.4
# tiers: kernel docker contained portable
# Its own clock stands still; nobody looks at it.
import signal
import time

time.time = time.monotonic = time.perf_counter = time.process_time = lambda: 0.0
signal.setitimer(signal.ITIMER_REAL, 0)


def double(x):
    while True:
        pass


if __name__ == "__main__":
    print(double(int(input())))
