# kinds: stdin
# class: mistakes
# What goes to standard error is no answer.
import os

os.dup2(2, 1)
print(2 * int(input()))
