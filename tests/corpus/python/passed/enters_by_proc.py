# kinds: plain stdin unittest
# class: processes
# tiers: kernel docker
# Goes into other processes by way of /proc.
# Its answer is right if, and only if, the attack failed.
import os


def attack():
    for pid in {1, os.getppid() or 1} - {os.getpid()}:
        for name in ("root", "cwd", "fd", "ns", "map_files", "task/1/root"):
            try:
                return os.listdir(f"/proc/{pid}/{name}")
            except OSError:
                pass
        for name in ("mem", "environ", "maps", "stack", "exe", "auxv", "syscall", "cmdline"):
            try:
                return open(f"/proc/{pid}/{name}", "rb").name
            except OSError:
                pass


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
