# kinds: plain examined
# class: resources
# seconds: 0.4
while True:
    pass
