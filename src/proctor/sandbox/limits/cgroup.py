"""The memory of a whole box, by a cgroup of its own, where this host lets us make one.

Limits of the kernel hold for one process each. A cgroup counts all that the processes of a box have
together: their memory, their files in memory, what the kernel keeps for them in pipes, sockets and
page tables. When that is too much the kernel ends a guest's process, and the cgroup's own counter
says that it did, so that nobody has to guess why a guest died.

A box's cgroup lies below the one that we are in ourselves, of version 1 or 2. It may be used if we
may write there and, in version 2, if it was delegated to us: then we move to a leaf of it, because
a cgroup whose children have limits must not hold processes. A keeper is moved into its box's cgroup
when it has loaded all that it loads, and its guests are born there. The supervisor is told by a
descriptor that it polls anyway, so a candidate costs nothing.

The folder of a cgroup is removed when its box closes. Who makes one holds a lock on it; a folder
that nobody holds, because all of us were killed at once, is removed by whoever comes next.
"""

import contextlib
import errno
import os
import select
import signal
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

if sys.platform != "win32":  # where there are neither locks nor cgroups
    import fcntl

from proctor.errors import SandboxError
from proctor.records.execution import Ending, OutOfMemory, SandboxFailed
from proctor.records.limits import MIB, Limits

KEEPER_BYTES = 256 * MIB
"""What a keeper itself needs besides what it was started with: it holds what its guest says."""
PREFIX, LEAF = "proctor-box-", "proctor-supervisors"
NEAR_BYTES = 2 * MIB
"""How near to its limit a cgroup comes at the least when the kernel finds nothing to free."""
OUT_OF_MEMORY = "the host ran out of memory and ended it"
VMSTAT = "/proc/vmstat"
REMOVAL_SECONDS = 2.0
ENOUGH_TRIES = 5


class Hierarchy(NamedTuple):
    """Where the cgroup that we are in lies."""

    top: Path
    own: Path
    version: int

    @property
    def visible(self) -> list[Path]:
        """Our own cgroup and those around it, as far as we see."""
        above = self.own.relative_to(self.top).parents
        return [self.own, *(self.top / path for path in above)]


def hierarchy(controller: str) -> Hierarchy | None:
    """Return where we are among the cgroups of a controller, None if that is not in sight."""
    return locate(controller, _lines("/proc/self/cgroup"), _lines("/proc/self/mountinfo"))


def locate(controller: str, cgroups: Sequence[str], mounts: Sequence[str]) -> Hierarchy | None:
    """Find out the same from what the kernel says of a process, as in proc(5)."""
    ours: dict[str, str] = {}
    for line in cgroups:
        _, names, path = line.split(":", 2)
        ours |= dict.fromkeys(names.split(","), path)
    name, kind = (controller, "cgroup") if controller in ours else ("", "cgroup2")
    for line in mounts:
        mount, _, system = line.partition(" - ")
        found, _, options = system.split(" ", 2)
        if name in ours and found == kind and (not name or name in options.split(",")):
            root, top = mount.split()[3:5]
            below = os.path.relpath(ours[name], root)
            # a namespace may show only the outside of what is mounted, or only what is mounted
            if ".." not in f"{root}/{below}".split("/"):
                return Hierarchy(Path(top), Path(top, below), 1 if name else 2)
    return None


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(errors="replace").splitlines()
    except OSError:
        return []  # not Linux, or without cgroups


class CgroupRoot(NamedTuple):
    """A cgroup below which boxes may have theirs."""

    folder: Path
    version: int


@cache
def find_cgroup_root() -> CgroupRoot:
    """Find out by trying where boxes may have cgroups; a SandboxError says why nowhere."""
    found = hierarchy("memory")
    if found is None:
        raise SandboxError("no cgroup that counts memory is in sight")
    folder = found.own.parent if found.own.name == LEAF else found.own
    try:
        if found.version != 1:
            _make_room(folder, contained=folder == found.top)
        ground = CgroupRoot(folder, found.version)
        _sweep(ground)
        group = Cgroup(ground)
        try:
            group.allow(KEEPER_BYTES)
        finally:
            group.close()
    except OSError as error:
        raise SandboxError(f"{folder}: {error.strerror}") from None
    return ground


def _make_room(folder: Path, *, contained: bool) -> None:
    """Let cgroups below ours have limits, for which all processes in it have to go to a leaf."""
    if "memory" not in (folder / "cgroup.controllers").read_text().split():
        raise SandboxError(f"{folder}: it was not given the memory controller")
    control, leaf = folder / "cgroup.subtree_control", folder / LEAF
    if "memory" in control.read_text().split():
        return
    if not (contained or _delegated(folder)):
        raise SandboxError(f"{folder}: it was not delegated to us")
    for _ in range(ENOUGH_TRIES):
        try:
            _write(control, "+memory")
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
        else:
            return
        leaf.mkdir(exist_ok=True)
        for pid in (folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                _write(leaf / "cgroup.procs", pid)
    raise SandboxError(f"{folder}: processes come faster than they can be moved")


def _delegated(folder: Path) -> bool:
    """Say whether systemd has given us a cgroup: it says so, or did so before it said so."""
    marked = {"user.delegate", "trusted.delegate"} & set(os.listxattr(folder))
    alone = (folder / "cgroup.procs").read_text().split() == [str(os.getpid())]
    return bool(marked) or (alone and os.geteuid() != 0)


def _sweep(ground: CgroupRoot) -> None:
    """Remove what others left who were killed."""
    for folder in ground.folder.glob(f"{PREFIX}*"):
        try:
            counter = os.open(folder / COUNTER[ground.version], os.O_RDONLY)
        except OSError:
            continue  # it has just gone
        try:
            fcntl.flock(counter, fcntl.LOCK_EX | fcntl.LOCK_NB)
            folder.rmdir()
        except OSError:
            pass  # somebody holds it, or something lives in it
        finally:
            os.close(counter)


def memory_left(limits: Limits, scratch_bytes: int, message_bytes: int) -> int:
    """Return what a box may take for a guest to have all that its limits allow.

    Files in memory count as memory. What a keeper is sent counts as well, if it is much.
    """
    much = message_bytes // MIB * MIB
    return limits.memory_bytes + max(limits.scratch_bytes, scratch_bytes) + KEEPER_BYTES + much


COUNTER = {1: "memory.oom_control", 2: "memory.events"}
LIMITS = {
    1: ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
    2: ("memory.max",),
}
"""Of memory, and where the kernel counts that, of memory and what was swapped out of it."""


class Cgroup:
    """The cgroup of one box; raises OSError where it cannot be made."""

    def __init__(self, ground: CgroupRoot) -> None:
        self._version = ground.version
        self._folder, self._counter = _make(ground)
        self._limit = sys.maxsize
        self._ooms = 0
        self._seen = (0, 0)
        self._wary = False
        self._limits = [
            path for name in LIMITS[ground.version] if (path := self._folder / name).exists()
        ]
        try:
            if ground.version == 1:
                self.alarm, self.events = self._listen(), select.POLLIN
            else:
                self.alarm, self.events = self._counter, select.POLLPRI
                with contextlib.suppress(FileNotFoundError):  # the kernel does not count that
                    _write(self._folder / "memory.swap.max", "0")
        except OSError:
            self.close()
            raise

    alarm: int
    """A descriptor to poll for `events`: something may have gone wrong."""

    def _listen(self) -> int:
        """Have a descriptor told of every time the kernel found nothing to free (version 1)."""
        alarm = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        _write(self._folder / "cgroup.event_control", f"{alarm} {self._counter}")
        return alarm

    def add(self, pid: int) -> None:
        """Take a process in, and all that it starts from now on."""
        _write(self._folder / "cgroup.procs", str(pid))

    def allow(self, size: int) -> None:
        """Let the box have so much, for its next guest."""
        if self._wary:  # the last guest's end may have been told only in part
            self.memory_ending()
            self._wary = True
        if size != self._limit:
            # memory alone may never be allowed more than memory and swap together
            for path in self._limits if size < self._limit else reversed(self._limits):
                _write(path, str(size))
            self._limit = size

    def memory_ending(self) -> Ending | None:
        """Say how a guest ended if the kernel ended one since this was last asked."""
        try:
            seen, self._seen = self._seen, self._counts()
        except OSError as error:
            return SandboxFailed(f"the cgroup of its box is gone: {error.strerror}")
        self._wary = self._seen != seen
        if self._seen[0] > seen[0]:
            return OutOfMemory()
        if self._seen[1] > seen[1]:
            return SandboxFailed(OUT_OF_MEMORY)
        return None

    def memory_ending_after(self, code: int | None) -> Ending | None:
        """Say so after a guest's end, for which one need not ask if nothing points to it.

        In version 2 an alarm that follows another one comes late.
        """
        return self.memory_ending() if self._wary or code in (None, -signal.SIGKILL) else None

    def _counts(self) -> tuple[int, int]:
        """Return how often there was nothing to free within our limit, and how many were ended."""
        words = os.pread(self._counter, 4096, 0).split()
        counts = dict(zip(words[::2], map(int, words[1::2]), strict=True))
        if self._version == 1:
            with contextlib.suppress(BlockingIOError):
                heard = os.eventfd_read(self.alarm)
                self._ooms += heard if self._was_full() else 0
            return self._ooms, counts.get(b"oom_kill", 0)
        return counts[b"oom"], counts[b"oom_kill"]

    def _was_full(self) -> bool:
        """Say whether it was our limit; in version 1 one also hears of those around us."""
        most = self._limits[-1].with_name(self._limits[-1].name.replace("limit", "max_usage"))
        return int(most.read_text()) > self._limit - NEAR_BYTES

    def close(self) -> None:
        """Remove it, once all of its processes are gone."""
        end = time.monotonic() + REMOVAL_SECONDS
        while self._folder.exists():
            try:
                self._folder.rmdir()
            except OSError:
                if time.monotonic() > end:
                    break  # whoever comes next does it
                time.sleep(0.005)
        for fd in {self._counter, getattr(self, "alarm", self._counter)}:
            os.close(fd)


class HostMemory:
    """What the kernel tells of the whole host, where no cgroup of ours says why a guest was ended.

    Where a container or pod reaches its limit, whoever is ended for it did nothing wrong.
    """

    def __init__(self) -> None:
        self._seen = _ended_on_host()

    def memory_ending_after(self, code: int | None) -> Ending | None:
        """Say how a guest ended if the kernel has ended one since this was last asked."""
        if code != -signal.SIGKILL:
            return None
        seen, self._seen = self._seen, _ended_on_host()
        return SandboxFailed(OUT_OF_MEMORY) if self._seen > seen else None


def _ended_on_host() -> int:
    """Return how many processes the kernel has ended for want of memory; 0 if it does not say."""
    counts = (line.split() for line in _lines(VMSTAT))
    return next((int(number) for name, number in counts if name == "oom_kill"), 0)


def _make(ground: CgroupRoot) -> tuple[Path, int]:
    """Make a folder and hold a lock on it; another one that sweeps may come in between."""
    for _ in range(ENOUGH_TRIES):
        folder = ground.folder / f"{PREFIX}{os.urandom(6).hex()}"
        folder.mkdir()
        with contextlib.suppress(FileNotFoundError):
            counter = os.open(folder / COUNTER[ground.version], os.O_RDONLY)
            fcntl.flock(counter, fcntl.LOCK_SH)
            if folder.exists():
                return folder, counter
            os.close(counter)
    raise FileNotFoundError(f"{ground.folder}: folders are removed as soon as they are made")


def _write(path: Path, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
