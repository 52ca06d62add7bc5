for _ in range(int(input())):
    input()
    s = input().strip()
    letters = sorted(set(s))
    print(s.translate({ord(a): b for a, b in zip(letters, reversed(letters))}))
