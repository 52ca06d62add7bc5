# kinds: all unittest
# tiers: kernel docker contained portable
import threading


def double(x):
    box = []
    thread = threading.Thread(target=lambda: box.append(2 * x))
    thread.start()
    thread.join()
    return box[0]
