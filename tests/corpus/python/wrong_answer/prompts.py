# kinds: stdin
# class: mistakes
# A prompt is output, too.
print(2 * int(input("a number, please: ")))
