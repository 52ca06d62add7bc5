input()
a = list(map(int, input().split()))


def run(values):
    length = 1
    while length < len(values) and values[length] > values[length - 1]:
        length += 1
    return length


print("Alice" if run(a) % 2 or run(a[::-1]) % 2 else "Bob")
