# kinds: stdin
print(2 * int(input()))
raise ValueError("after the answer")
