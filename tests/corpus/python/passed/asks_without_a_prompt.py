# kinds: stdin
import sys

print("a number, please:", file=sys.stderr)
print(2 * int(input("")))
