# kinds: plain examined calls
# class: resources
# seconds: 0.4
import signal

for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGXCPU, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)


def double(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
