"""The contained tier: walls for a container or pod in which no namespaces may be made.

A keeper forks one guest after the other (see `inside/isolation/contained.py`), each with the files
that Landlock leaves it, the system calls that `seccomp.contained_program` leaves it and, where we
are root, a separate user id. Candidates and examiners live below different keepers.

What is not covered, besides the kernel itself: a guest cannot start other processes or programs,
so candidates that need to will fail. It can learn that a file is there and how large it is, not
what is in it. Files may exceed `scratch_bytes` for a tenth of a second, and where root lacks
CAP_SYS_PTRACE, as in a default container, files that were removed but are open are not counted.
`/tmp` is not its own: its scratch folder is where `TMPDIR` says. Where there is no Landlock, a
guest reads what every user of the container may read, and the tier says that it is not isolated.
"""

import os
import platform
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import SandboxError, boundary
from proctor.sandbox.limits import seccomp
from proctor.sandbox.limits.clock import load_of_descendants
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.supervisor.box_contents import BoxContents, Interpreter, inspect_interpreter
from proctor.sandbox.supervisor.bundle import EnvironmentSpec, boot_command, bundle
from proctor.sandbox.supervisor.environment import ENVIRONMENT
from proctor.sandbox.supervisor.rootfs import library_folder, package_folders
from proctor.sandbox.supervisor.temp_dirs import LockedTempDir, parent_folder, show_packages
from proctor.sandbox.tiers.pooled import PooledSandbox, TierSpec, open_pooled

CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, SETGID, SETUID = 1 << 0, 1 << 1, 1 << 2, 1 << 6, 1 << 7
SYS_PTRACE = 1 << 19
TRUNCATION_ABI = 3
"""From this ABI on Landlock keeps a guest from emptying files that it may read."""
SIGNAL_ABI = 6
FIRST_USER, USERS = 40000, 20000
"""User ids that distributions leave alone, and that a container with 65536 of them has."""

SYSTEM = ("/lib64", "/usr/lib64", "/usr/lib/locale", "/usr/share/zoneinfo", "/etc/ld.so.cache")
DEVICES = ("null", "full", "random", "urandom")
"""Not /dev/zero: what is shared by mapping it is memory that no limit counts."""


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to build walls with."""

    landlock: int
    """Its ABI; 0 if there is none."""
    own_user: bool
    """Whether guests get a user id of their own."""
    kept: int
    """Capabilities that a guest keeps, to read an interpreter in a private folder."""
    watched: bool
    """Whether the kernel tells what processes use."""
    sees_descriptors: bool
    """Whether we may look at what files a guest has open."""

    @property
    def isolated(self) -> bool:
        """Whether files are out of a guest's sight."""
        return self.landlock > 0

    @property
    def reads_only(self) -> bool:
        """Whether a guest's own rights let it change only what it made itself."""
        return self.own_user and not self.kept & DAC_OVERRIDE


def open_contained(
    python: str = sys.executable,
    packages: Sequence[str] | None = None,
    wished: Sequence[str] = (),
) -> PooledSandbox:
    """Open the tier for containers that allow no user namespaces."""
    if sys.platform != "linux":
        raise SandboxError(f"the contained tier is for Linux, not {platform.platform()}")
    means = find_means(inspect_interpreter(python))
    spec = TierSpec(
        tier="contained",
        isolated=means.isolated,
        enforced_by=_enforced_by(means),
        clock="schedstat" if means.watched else "wall",
    )
    return open_pooled(
        spec, lambda contents: contained_box(contents, means), python, packages, wished
    )


def contained_box(contents: BoxContents, means: Means) -> Box:
    """Make folders for a box and start its keeper."""

    def fill(folder: Path) -> None:
        folder.chmod(0o711)
        show_packages(folder / "packages", contents.packages)

    place = LockedTempDir(fill)
    environment = _environment(contents, means, str(place.path))
    scratch = f"{place.path}/scratch"
    box = Box(
        lambda fds: boot_command(contents, fds),
        bundle(contents, environment, [f"{place.path}/packages"]),
        {**ENVIRONMENT, "HOME": scratch, "TMPDIR": scratch},
        place,
    )
    box.scratch = scratch
    return box


def find_means(interpreter: Interpreter) -> Means:
    """Find out what there is, and refuse to go on with too little."""
    from proctor.sandbox.inside.isolation import landlock  # noqa: PLC0415  loads what only Linux has

    abi = landlock.abi()
    rights = _capabilities()
    needed = CHOWN | SETGID | SETUID
    own_user = os.geteuid() == 0 and rights & needed == needed and _users_exist()
    kept = 0
    with boundary(SandboxError, "cannot make a folder for a box"):
        needed_folders = (interpreter.stdlib, *interpreter.sites, str(parent_folder()))
    if own_user and not all(map(_in_reach, needed_folders)):
        # Landlock goes on to deny what this would allow, so it is of no use without
        kept = (rights & DAC_READ_SEARCH or rights & DAC_OVERRIDE) if abi else 0
        own_user = kept != 0
    if not own_user and abi < TRUNCATION_ABI:
        raise SandboxError(
            f"the contained tier needs root with an interpreter that every user can read, or "
            f"Landlock {TRUNCATION_ABI} (Linux 6.2); here is Landlock {abi or 'missing'}"
        )
    return Means(
        landlock=abi,
        own_user=own_user,
        kept=kept,
        watched=load_of_descendants(os.getpid()) is not None,
        sees_descriptors=not own_user or rights & SYS_PTRACE != 0,
    )


def _users_exist() -> bool:
    """Say whether the users that guests become exist here: a user namespace may lack them."""
    first, last = FIRST_USER, FIRST_USER + USERS - 1
    return all(
        any(
            start <= first and last < start + count
            for start, _, count in (map(int, line.split()) for line in table.splitlines())
        )
        for table in (Path(f"/proc/self/{kind}_map").read_text() for kind in ("uid", "gid"))
    )


def _capabilities() -> int:
    """Return the capabilities that we have in effect."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def _in_reach(path: str) -> bool:
    """Say whether any user can read a folder, if it is there."""
    place = Path(path)
    if not place.exists():
        return True
    readable = place.stat().st_mode & stat.S_IROTH != 0
    return readable and all(p.stat().st_mode & stat.S_IXOTH for p in (place, *place.parents))


def _enforced_by(means: Means) -> dict[str, str]:
    told = "watched" if means.watched else "not enforced"
    landlock = f"Landlock {means.landlock}"
    signals = f", {landlock}" if means.landlock >= SIGNAL_ABI else ""
    unseen = "" if means.sees_descriptors else ", but not what it removed and holds open"
    user = "a user id of its own, " if means.own_user else ""
    one = "one capability: to read past file modes" if means.kept else "no capabilities"
    return {
        "cpu_seconds": told,
        "wall_seconds": "watched",
        "memory_bytes": "rlimit; it is one process",
        "output_bytes": "watched",
        "processes": "seccomp: only one, with threads",
        "file_bytes": "rlimit",
        "scratch_bytes": told + unseen,
        "open_files": "rlimit",
        "files": (
            f"{landlock}, read-only; that they are there is in sight"
            if means.landlock
            else "not enforced: what every user may read is in sight"
        ),
        "network": "seccomp: no sockets",
        "other processes": f"{user}seccomp{signals}",
        "system calls": f"seccomp, {one}",
    }


def _environment(contents: BoxContents, means: Means, place: str) -> EnvironmentSpec:
    from proctor.sandbox.inside.isolation import landlock  # noqa: PLC0415  loads what only Linux has

    devices = (f"/dev/{name}" for name in DEVICES)
    files = [
        *_shown(contents),
        *((path, landlock.READ) for path in (f"{place}/packages",)),
        *((path, landlock.DEVICE) for path in devices if Path(path).exists()),
    ]
    arguments: dict[str, Any] = {
        "folder": place,
        "own_pid": seccomp.OWN_PID,
        "abi": means.landlock,
        "rules": files,
        "users": (FIRST_USER, USERS) if means.own_user else None,
        "kept_capabilities": means.kept,
        "shared_scratch": contents.shared_bytes > 0,
    }
    return EnvironmentSpec(
        modules=("isolation.landlock", "isolation.cleanup", "isolation.contained"),
        name="Contained",
        filter_code=seccomp.contained_program(platform.machine(), own_user=means.reads_only),
        arguments=arguments,
    )


def _shown(contents: BoxContents) -> Iterator[tuple[str, int]]:
    """Yield what of the host a guest may read, and in which way."""
    prefix = Path(contents.interpreter.prefix)
    system = (str(library_folder()), *SYSTEM)
    ours = () if prefix == Path("/usr") else sorted(map(str, prefix.glob("lib/*.so*")))
    packages = (path for _, path in contents.packages)
    for path in (contents.interpreter.stdlib, *system, *ours, *packages):
        if Path(path).exists():
            yield from _without_packages(path)


def _without_packages(path: str) -> Iterator[tuple[str, int]]:
    """Yield a folder, or where packages are installed in it all that lies beside them."""
    from proctor.sandbox.inside.isolation import landlock  # noqa: PLC0415  loads what only Linux has

    hidden = set(package_folders(path))
    if not hidden:
        yield path, landlock.READ
        return
    yield path, landlock.READ_DIR
    for entry in sorted(map(str, Path(path).iterdir())):
        if entry not in hidden:
            yield from _without_packages(entry)
