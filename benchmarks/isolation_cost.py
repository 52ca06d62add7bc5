"""Measure what each layer of isolation in the kernel sandbox costs per fork.

    python benchmarks/isolation_cost.py [--forks 400]

A warm interpreter with the modules of a box forks children that set up one more layer per row and
exit at once. Rows are interleaved, so that a busy moment of the machine affects all of them alike.
No candidate runs here, so leaving layers out is safe.
"""

import argparse
import os
import resource
import signal
import statistics
import time
from collections.abc import Callable

from proctor.sandbox.inside.isolation import libc
from proctor.sandbox.inside.roles.candidate import answer as _warm  # noqa: F401  as in a box
from proctor.sandbox.limits import seccomp
from proctor.sandbox.supervisor.box_contents import PRELOADED

FLAGS = libc.NOSUID | libc.NODEV | libc.NOEXEC
MACHINE = os.uname().machine
BOX_FILTER, FILTER = map(libc.Filter, (seccomp.program(MACHINE), seccomp.guests_program(MACHINE)))


def own_files() -> None:
    libc.unshare(libc.NEWNS)
    libc.mount("scratch", "/tmp", "tmpfs", libc.NOSUID | libc.NODEV, "size=64m")


def limits() -> None:
    for which in (resource.RLIMIT_AS, resource.RLIMIT_NOFILE, resource.RLIMIT_CPU):
        resource.setrlimit(which, resource.getrlimit(which))
    resource.setrlimit(resource.RLIMIT_NPROC, (64, 64))


def new_user() -> None:
    libc.unshare(libc.NEWUSER)
    libc.map_user(1000, 0, 0)


LAYERS: tuple[tuple[str, Callable[[], object]], ...] = (
    ("pid namespace with an init", lambda: None),  # the parent makes it
    ("mount namespace, own scratch", own_files),
    ("own /proc", lambda: libc.mount("proc", "/proc", "proc", FLAGS, "hidepid=2")),
    ("ipc namespace", lambda: libc.unshare(libc.NEWIPC)),
    ("user namespace", new_user),
    ("limits", limits),
    ("no capabilities", libc.drop_capabilities),
    ("system call filter", FILTER.install),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--forks", type=int, default=400, help="forks for every row")
    forks = parser.parse_args().forks
    for name in PRELOADED:
        __import__(name)
    BOX_FILTER.install()  # once for all, as in a box; guests have more
    own_box()
    spent: list[list[float]] = [[] for _ in range(len(LAYERS) + 1)]
    forker = Forker()
    for _ in range(forks):
        for layers, times in enumerate(spent):
            times.append(forker.fork(layers))
    before = 0.0
    print(f"{'':<32}{'ms a fork':>10}{'more':>8}")
    for layers, times in enumerate(spent):
        name = LAYERS[layers - 1][0] if layers else "fork and exit"
        median = statistics.median(times) * 1e3
        print(f"{name:<32}{median:>10.2f}{median - before:>8.2f}")
        before = median


def own_box() -> None:
    """Enter new namespaces, as the keeper of a box does, with the right to create more."""
    user, group = os.getuid(), os.getgid()
    libc.unshare(libc.NEWUSER | libc.NEWNS | libc.NEWPID | libc.NEWIPC | libc.NEWNET)
    libc.map_user(0, user, group)
    child = os.fork()
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    libc.mount(None, "/", None, libc.RECURSIVE | libc.PRIVATE)
    libc.mount("proc", "/proc", "proc", FLAGS)


class Forker:
    """Forks children behind a number of layers."""

    def __init__(self) -> None:
        self._pauser = libc.Pauser()
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def fork(self, layers: int) -> float:
        """Fork one, wait for its end, and return how long all of it took."""
        begin = time.perf_counter()
        init = 0
        if layers:
            libc.unshare(libc.NEWPID)
            init = self._pauser.start()
        pid = os.fork()
        if pid == 0:
            try:
                for _, set_up in LAYERS[:layers]:
                    set_up()
            except BaseException as error:  # noqa: BLE001  the child must not go on as its parent
                os.write(2, f"{error}\n".encode())
                os._exit(1)
            os._exit(0)
        if layers:
            libc.setns(self._own, libc.NEWPID)
        if os.waitpid(pid, 0)[1] != 0:
            raise SystemExit("a layer could not be set up")
        if init:
            os.kill(init, signal.SIGKILL)
            os.waitpid(init, 0)
        return time.perf_counter() - begin


if __name__ == "__main__":
    main()
