# kinds: plain stdin
# class: network
# tiers: kernel docker contained
# Its answer is right if, and only if, the attack failed.
import socket
import urllib.request


def attack():
    try:
        return socket.getaddrinfo("example.com", 80)
    except OSError:
        pass
    try:
        return urllib.request.urlopen("http://example.com", timeout=0.5).read(10)
    except OSError:
        pass


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
