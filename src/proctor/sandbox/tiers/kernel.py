"""The kernel tier: real walls without root, Docker or cgroup set-up, at fork speed.

A box (`inside/isolation/build_box.py`) holds a keeper with a warm interpreter, which forks one
guest after the other, each into its own namespaces (`inside/isolation/namespaces.py`). Candidates
and examiners live in different boxes: they cannot see, signal, trace or read one another.

What is not covered: the kernel itself. A guest talks to the host's kernel through the system calls
that `limits/seccomp.py` leaves, and a flaw in those is a way out.
"""

import contextlib
import marshal
import sys
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

from proctor.errors import SandboxError, boundary
from proctor.sandbox.limits.cgroup import Cgroup, CgroupRoot, find_cgroup_root
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.supervisor.box_contents import BoxContents
from proctor.sandbox.supervisor.bundle import bundle, kernel_environment
from proctor.sandbox.supervisor.rootfs import box_plan
from proctor.sandbox.tiers.pooled import PooledSandbox, TierSpec, open_pooled

BUILD = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from inside.isolation.build_box import main
del sys.path[0]
main()
"""

ENFORCED_BY = {
    "cpu_seconds": "watched",
    "wall_seconds": "watched",
    "memory_bytes": "rlimit, each process; watched, all together",
    "output_bytes": "watched",
    "processes": "rlimit in a user namespace of its own",
    "file_bytes": "rlimit",
    "scratch_bytes": "tmpfs of its own",
    "open_files": "rlimit",
    "files": "mount namespace, read-only",
    "network": "network namespace without any but a loopback where asked for, seccomp",
    "other processes": "pid namespace of its own",
    "system calls": "seccomp, no capabilities",
}


def open_kernel(
    python: str = sys.executable,
    packages: Sequence[str] | None = None,
    wished: Sequence[str] = (),
) -> PooledSandbox:
    """Open the tier for Linux hosts that allow user namespaces."""
    enforced_by, ground = dict(ENFORCED_BY), None
    with contextlib.suppress(SandboxError):  # then all together are watched
        ground = find_cgroup_root()
        enforced_by["memory_bytes"] = "rlimit, each process; cgroup, all together"
    return open_pooled(
        TierSpec(tier="kernel", isolated=True, enforced_by=enforced_by, languages=True),
        lambda contents: kernel_box(contents, ground),
        python,
        packages,
        wished,
    )


def kernel_box(contents: BoxContents, ground: CgroupRoot | None = None) -> Box:
    """Build a box and start its keeper, in a cgroup if there is a ground for it."""
    folder = str(Path(__file__).parents[1])

    def argv(fds: Sequence[int]) -> list[str]:
        plan = b64encode(marshal.dumps(box_plan(contents, fds))).decode()
        return [sys.executable, "-s", "-S", "-B", "-c", BUILD, folder, plan]

    box = Box(argv, bundle(contents, kernel_environment(contents), ["/packages"]))
    try:
        box.find_keeper()
        box.serial = not contents.shared_bytes
        _check_version(contents, box)
        if ground is not None:
            with boundary(SandboxError, "cannot make a cgroup for a box"):
                box.bound(Cgroup(ground), contents.shared_bytes)
    except BaseException:
        box.close()
        raise
    return box


def _check_version(contents: BoxContents, box: Box) -> None:
    if box.version != contents.interpreter.version:
        raise SandboxError(
            f"{contents.interpreter.executable} is {box.version.split()[0]} inside the box "
            f"but {contents.interpreter.version.split()[0]} outside of it"
        )
