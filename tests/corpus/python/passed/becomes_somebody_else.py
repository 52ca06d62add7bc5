# kinds: plain stdin unittest
# class: processes
# tiers: kernel docker contained
# Wants to be root, or anybody else.
# Its answer is right if, and only if, the attack failed.
import os


def attack():
    for step in (lambda: os.setuid(0), lambda: os.seteuid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgid(0),
                 lambda: os.setgroups([0]), lambda: os.setresuid(65534, 65534, 65534), lambda: os.setuid(1)):
        try:
            step()
            return "changed"
        except OSError:
            pass
    with open("/proc/self/status") as file:
        status = dict(line.strip().partition(":\t")[::2] for line in file)
    return status["NoNewPrivs"] != "1" or status["Seccomp"] != "2" or os.getuid() == 0


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
