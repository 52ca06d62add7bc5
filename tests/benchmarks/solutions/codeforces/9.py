for _ in range(int(input())):
    input()
    print("YES" if input().count("U") % 2 else "NO")
