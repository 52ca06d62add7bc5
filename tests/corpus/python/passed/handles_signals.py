# kinds: plain calls stdin unittest
# tiers: kernel docker contained portable
# Timers and handlers of its own are its own business.
import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGALRM, lambda *args: None)
signal.setitimer(signal.ITIMER_REAL, 0.001)


def double(x):
    return 2 * x


if __name__ == "__main__":
    print(double(int(input())))
