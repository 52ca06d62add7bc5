# kinds: plain stdin
# class: network
# tiers: kernel docker contained
# Netlink, packets, other machines' hypervisors: sockets that are no network, or all of it.
# Its answer is right if, and only if, the attack failed.
import socket

FAMILIES = {"netlink": 16, "packet": 17, "vsock": 40, "bluetooth": 31, "can": 29, "alg": 38, "key": 15, "tipc": 30, "xdp": 44}


def attack():
    for name, family in FAMILIES.items():
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            try:
                socket.socket(family, kind, 0)
                return name
            except OSError:
                pass


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
