# kinds: plain stdin unittest
# class: resources
# One file has a limit, too.
# Its answer is right if, and only if, the attack failed.
import signal


def attack():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open("proctor-corpus-large", "wb", buffering=0) as file:
        try:
            file.truncate(1 << 40)
            return "truncated"
        except OSError:
            pass
        try:
            file.seek((64 << 20) - 10)
            return file.write(bytes(100)) > 10 or file.write(bytes(100))
        except OSError:
            pass


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
