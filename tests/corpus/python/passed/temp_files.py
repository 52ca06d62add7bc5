# kinds: all unittest
import os
import tempfile


def double(x):
    with tempfile.NamedTemporaryFile("w+", delete=False) as file:
        file.write(repr(2 * x))
    with open(file.name) as again:
        text = again.read()
    os.unlink(file.name)
    with open("kept.txt", "w") as kept:
        kept.write(text)
    return type(x)(float(text)) if isinstance(x, float) else int(text)
