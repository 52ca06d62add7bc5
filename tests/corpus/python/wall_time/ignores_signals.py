# kinds: plain check stdin unittest
# class: cheats
# seconds: 0.4
import signal
import time

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass


def double(x):
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass


if __name__ == "__main__":
    print(double(int(input())))
