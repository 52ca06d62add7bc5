# kinds: plain stdin
# class: resources
# tiers: kernel docker contained wasm
# If memory runs out somebody has to go; it wants that to be somebody else.
# Its answer is right if, and only if, the attack failed.
def attack():
    for path in ("/proc/self/oom_score_adj", "/proc/self/autogroup"):
        for value in ("-1000", "0"):
            try:
                with open(path, "w") as file:
                    file.write(value)
                return path
            except OSError:
                pass
    return None


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
