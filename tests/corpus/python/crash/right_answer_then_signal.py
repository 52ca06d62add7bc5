# kinds: stdin
# class: forging
# tiers: kernel docker contained portable
# A program that crashes has not passed, whatever it printed.
import os
import signal

print(2 * int(input()), flush=True)
os.kill(os.getpid(), signal.SIGSEGV)
