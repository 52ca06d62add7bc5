# kinds: plain examined calls
# class: reading
# seconds: 4
# tiers: kernel docker contained portable
# Reads all of its own memory, when a test is asked, for the text of a test.
# Its answer is right if, and only if, the attack failed.
def attack():
    # the two halves never stand side by side in this program, so it cannot find itself
    first, second = b"double(21)", b" == 42"
    with open("/proc/self/maps") as file:
        areas = [line.split() for line in file if " rw" in line]
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        for area, *_ in areas:
            start, end = (int(part, 16) for part in area.split("-"))
            while start < end:
                try:
                    memory.seek(start)
                    data = memory.read(min(end - start, 1 << 20))
                except (OSError, ValueError, OverflowError):
                    break
                start += len(data) or end
                at = data.find(first)
                while at >= 0:
                    if data[at + len(first) :].startswith(second):
                        return "a test"
                    at = data.find(first, at + 1)


def double(x):
    return attack() or 2 * x
