for _ in range(int(input())):
    s = input().strip()
    half = len(s) // 2
    print("YES" if s[:half] == s[half:] else "NO")
