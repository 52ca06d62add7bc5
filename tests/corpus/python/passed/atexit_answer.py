# kinds: stdin
import atexit

n = int(input())
atexit.register(lambda: print(2 * n))
