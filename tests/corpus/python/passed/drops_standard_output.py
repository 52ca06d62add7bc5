# kinds: stdin
import sys

print(2 * int(input()), flush=True)
sys.stdout = sys.stderr = None
