# kinds: all stdin
Sure, here is the function you asked for:
