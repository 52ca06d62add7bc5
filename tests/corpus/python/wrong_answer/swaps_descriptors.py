# kinds: stdin
# class: mistakes
# tiers: kernel docker contained portable
# What goes to standard error is no answer.
import os

os.dup2(2, 1)
print(2 * int(input()))
