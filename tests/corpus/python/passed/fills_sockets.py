# kinds: plain stdin
# class: resources
# tiers: kernel docker contained wasm
# seconds: 4
# Memory of the kernel, by sockets that nobody reads.
# Its answer is right if, and only if, the attack failed.
import socket


def attack():
    total, pairs = 0, []
    try:
        while True:
            pair = socket.socketpair()
            pairs.append(pair)
            for end in pair:
                for option in (socket.SO_SNDBUF, 32):
                    try:
                        end.setsockopt(socket.SOL_SOCKET, option, 1 << 26)
                    except OSError:
                        pass
                end.setblocking(False)
                try:
                    while total < 100 << 20:
                        total += end.send(bytes(1 << 16))
                except BlockingIOError:
                    pass
    except OSError:
        pass  # no more descriptors
    return total >= 100 << 20


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
