# class: resources
import os

while True:
    os.write(1, b"x" * 10_000)
