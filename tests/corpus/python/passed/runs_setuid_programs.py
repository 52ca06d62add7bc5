# kinds: plain stdin
# class: processes
# tiers: kernel docker
# Its answer is right if, and only if, the attack failed.
import glob
import os
import subprocess


def attack():
    for program in ("/usr/bin/su", "/usr/bin/sudo", "/usr/bin/mount", "/usr/bin/passwd", "/usr/bin/newuidmap"):
        if not os.path.exists(program):
            continue
        pid = os.posix_spawn("/bin/sh", ["sh", "-c", f"{program} --help >/dev/null 2>&1; id -u > who"], {"PATH": "/usr/bin:/bin"})
        os.waitpid(pid, 0)
        if open("who").read().strip() == "0":
            return program
    # a copy of a shell with the bit set is no better
    with open("/bin/sh", "rb") as shell, open("sh", "wb") as copy:
        copy.write(shell.read())
    os.chmod("sh", 0o6755)
    said = subprocess.run(["./sh", "-p", "-c", "id -u"], capture_output=True, text=True).stdout.strip()
    return said == "0"


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
