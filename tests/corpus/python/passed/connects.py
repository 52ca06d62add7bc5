# kinds: plain stdin unittest
# class: network
# tiers: kernel docker contained
# Its answer is right if, and only if, the attack failed.
import socket

PLACES = (("127.0.0.1", 22), ("127.0.0.1", 80), ("1.1.1.1", 53), ("169.254.169.254", 80), ("10.0.0.1", 443))


def attack():
    for family in (socket.AF_INET, socket.AF_INET6):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            try:
                socket.socket(family, kind)
                return family, kind
            except OSError:
                pass
    for place in PLACES:
        try:
            return socket.create_connection(place, timeout=0.2)
        except OSError:
            pass


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
