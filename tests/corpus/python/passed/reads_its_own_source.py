# kinds: stdin
with open(__file__) as file:
    assert "assert" in file.read()
print(2 * int(input()))
