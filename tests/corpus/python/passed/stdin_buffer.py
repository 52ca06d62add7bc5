# kinds: stdin
import sys

n = int(sys.stdin.buffer.readline())
sys.stdout.buffer.write(b"%d\n" % (2 * n))
