# kinds: stdin
# tiers: kernel docker contained portable
import threading
import time

n = int(input())
threading.Thread(target=lambda: (time.sleep(0.1), print(2 * n))).start()
