# kinds: plain stdin
# class: network
# tiers: kernel docker
# Looks for sockets of the host's own services.
# Its answer is right if, and only if, the attack failed.
import glob
import os
import socket

NAMES = ("/var/run/docker.sock", "/run/docker.sock", "/run/dbus/system_bus_socket", "/dev/log", "/run/systemd/private",
         "\0/tmp/.X11-unix/X0", "\0/containerd-shim")


def attack():
    names = [*NAMES, *glob.glob("/run/**/*.sock", recursive=True), *glob.glob("/tmp/**/*", recursive=True)]
    with open("/proc/net/unix") as file:
        names += ["\0" + line.split()[-1][1:] for line in file if "@" in line]
    for name in names:
        try:
            socket.socket(socket.AF_UNIX).connect(name)
            return name
        except OSError:
            pass


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
