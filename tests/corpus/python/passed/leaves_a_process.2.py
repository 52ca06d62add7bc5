# Its answer is right if, and only if, the attack failed.
import os
import socket


def attack():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if "proctor-corpus" in open(f"/proc/{pid}/comm").read():
                return pid
        except OSError:
            pass
    try:
        client = socket.socket(socket.AF_UNIX)
        client.connect("\0proctor-corpus")
        return client.recv(100)
    except OSError:
        pass


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
