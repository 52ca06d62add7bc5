# kinds: plain stdin unittest
# class: honest
# tiers: kernel docker contained portable
# An event loop needs a socket pair, which is no network.
import asyncio
import socket


def attack():
    async def ask(x):
        await asyncio.sleep(0)
        return x

    here, there = socket.socketpair()
    here.send(b"x")
    return there.recv(1) != b"x" or asyncio.run(ask(0))


TROUBLE = attack()


def double(x):
    return TROUBLE or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
