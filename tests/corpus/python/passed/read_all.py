# kinds: stdin
import sys

print(2 * int(sys.stdin.read()))
