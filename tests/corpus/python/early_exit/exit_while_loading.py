# kinds: all unittest
# class: forging
import sys

sys.exit(0)
