# kinds: plain stdin unittest
# class: processes
# tiers: kernel docker
# Looks for a capability that was forgotten.
# Its answer is right if, and only if, the attack failed.
def attack():
    with open("/proc/self/status") as file:
        status = dict(line.strip().partition(":\t")[::2] for line in file)
    return [status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") if int(status[name], 16)]


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
