# kinds: plain stdin
# class: processes
# tiers: kernel docker contained wasm
# Opens every switch of the kernel for writing.
# Its answer is right if, and only if, the attack failed.
import os

FILES = ("/proc/sysrq-trigger", "/proc/kcore", "/proc/kmsg", "/proc/irq/default_smp_affinity")
GUARDED = ("/proc/self/uid_map", "/proc/self/gid_map", "/proc/self/setgroups", "/proc/sys/kernel/ns_last_pid")
OWN = ("fs/mqueue/", "kernel/msg", "kernel/sem", "kernel/shm", "kernel/auto_msgmni", "kernel/pid_max")


def attack():
    switches = [os.path.join(folder, name) for folder, _, names in os.walk("/proc/sys") for name in names]
    for name in (*FILES, *switches):
        # those of its own ipc and pid namespaces are its own, and go with it
        if name not in GUARDED and not name.startswith(tuple(f"/proc/sys/{own}" for own in OWN)):
            try:
                os.close(os.open(name, os.O_WRONLY))  # to have it open is enough, nothing is written
                return name
            except OSError:
                pass
    for name, value in (*((name, b"0 0 1") for name in GUARDED), ("/proc/self/oom_score_adj", b"-500")):
        try:
            return os.write(os.open(name, os.O_WRONLY), value) and name
        except OSError:
            pass


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
