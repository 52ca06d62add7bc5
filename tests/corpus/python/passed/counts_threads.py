# kinds: plain stdin unittest
# class: resources
# tiers: kernel docker wasm
# Starts threads until it is told to stop.
# Its answer is right if, and only if, the attack failed.
import threading


def attack():
    threading.stack_size(32768)
    end, count = threading.Event(), 0
    try:
        while count < 1000:
            threading.Thread(target=end.wait, daemon=True).start()
            count += 1
    except (RuntimeError, MemoryError):
        pass
    end.set()
    return count >= 64


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
