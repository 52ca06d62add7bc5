# tiers: kernel docker portable
import os


def double(x):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, repr(2 * x).encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    text = os.read(reading, 100).decode()
    os.close(reading)
    return float(text) if "." in text else int(text)
