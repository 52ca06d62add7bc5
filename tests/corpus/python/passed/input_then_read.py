# kinds: stdin
import sys

n = int(input())
rest = sys.stdin.read()
assert rest == "", rest
print(2 * n)
