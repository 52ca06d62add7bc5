# kinds: stdin
import sys

for _ in range(1000):
    sys.stderr.write("a line of a hundred characters".ljust(99) + "\n")
print(2 * int(input()))
