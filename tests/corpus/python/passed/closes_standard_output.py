# kinds: stdin
import sys

print(2 * int(input()))
sys.stdout.close()
