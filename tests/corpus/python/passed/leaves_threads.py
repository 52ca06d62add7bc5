# tiers: kernel docker contained portable
import threading
import time

threading.Thread(target=time.sleep, args=(1000,)).start()


def double(x):
    return 2 * x
