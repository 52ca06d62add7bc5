# kinds: stdin
input()
