# kinds: plain stdin unittest
# class: persistence
# tiers: kernel docker
# Part 1 leaves something behind, part 2 runs in the same box and looks for it.
import os
import socket
import time


def leave():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with open("/proc/self/comm", "w") as file:
                file.write("proctor-corpus")
            server = socket.socket(socket.AF_UNIX)
            server.bind("\0proctor-corpus")
            server.listen()
            while True:
                server.accept()[0].send(b"the answer is 42")
        os._exit(0)
    time.sleep(0.1)


leave()


def double(x):
    return 2 * x


if __name__ == "__main__":
    print(double(int(input())))
