# kinds: all stdin unittest
Sure, here is the function you asked for:
