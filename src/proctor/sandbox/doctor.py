"""What this host can enforce, found out by trying it, up to a first candidate."""

import os
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from proctor.errors import HostError, InputError, SandboxError
from proctor.languages import all_languages, plugin_languages
from proctor.records.execution import (
    Denied,
    Enforcement,
    Execution,
    Exited,
    OutOfMemory,
    OutputTooLong,
    Tier,
    TimedOut,
)
from proctor.records.limits import KIB, MIB, Limits
from proctor.records.program import Program
from proctor.sandbox import Sandbox
from proctor.sandbox.host_check import Host, HostCheck, Remedy, check_host, probe, remedies
from proctor.sandbox.tiers.select import ORDER, open_sandbox

SECRET = "nobody should read this"
LIMITS = Limits(
    cpu_seconds=0.5,
    wall_seconds=0.5,
    memory_bytes=512 * MIB,
    output_bytes=64 * KIB,
    processes=16,
    file_bytes=1 * MIB,
    scratch_bytes=4 * MIB,
    open_files=50,
)


class TierFound(msgspec.Struct, frozen=True, kw_only=True):
    """Whether one tier works here."""

    tier: Tier
    works: bool
    isolated: bool
    detail: str


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """All that was found out about this host."""

    tier: str | None
    isolated: bool
    works: bool
    walls: Mapping[str, str]
    toolchains: Mapping[str, str]
    trials: Sequence[HostCheck]
    languages: Sequence[HostCheck] = ()
    """Which languages programs may be written in here, by their self-tests."""
    host: Sequence[HostCheck] = ()
    """What walls are made of, tried one by one."""
    tiers: Sequence[TierFound] = ()
    remedies: Sequence[Remedy] = ()

    def lines(self) -> Iterator[str]:
        """Yield the findings as text."""
        isolated = "isolated" if self.isolated else "NOT ISOLATED: run only code that you trust"
        yield f"sandbox: {self.tier or 'none'} ({isolated})"
        for name, how in {**self.toolchains, **self.walls}.items():
            yield f"  {name:<18} {how}"
        yield "tried:"
        yield from map(_line, self.trials)
        if self.languages:
            yield "languages:"
            yield from map(_offer, self.languages)
        if self.host:
            yield "this host:"
            yield from map(_line, self.host)
        if self.tiers:
            yield "sandboxes:"
        for found in self.tiers:
            yield f"  {_mark(held=found.works)} {found.tier:<22} {found.detail}"
        for remedy in self.remedies:
            yield f"to have {remedy.missing}:"
            yield from (f"    {line}" for line in remedy.lines)


def _mark(*, held: bool) -> str:
    return "ok  " if held else "FAIL"


def _line(trial: HostCheck) -> str:
    return f"  {_mark(held=trial.held)} {trial.name:<22} {trial.detail}"


def _offer(trial: HostCheck) -> str:
    return f"  {'ok' if trial.held else '--':<4} {trial.name:<22} {trial.detail}"


class Check(NamedTuple):
    """A program that runs into one wall, and how one sees that the wall holds."""

    name: str
    wall: str | None
    """None: it needs no wall."""
    source: str
    holds: Callable[[Execution], bool]
    limits: Limits = LIMITS


def _timed_out(execution: Execution) -> bool:
    return isinstance(execution.ending, TimedOut)


def _is_alone(execution: Execution) -> bool:
    """Say whether a program could not start another one: its memory is all there is."""
    return any(word in execution.stderr for word in (b"PermissionError", b"attribute 'fork'"))


CHECKS = (
    Check("a program runs", None, "print(6 * 7)", lambda e: e.stdout == b"42\n"),
    Check("a busy loop ends", "cpu_seconds", "while True: pass", _timed_out),
    Check("a sleeper ends", "wall_seconds", "import time; time.sleep(60)", _timed_out),
    Check(
        "memory is limited",
        "memory_bytes",
        "bytearray(600 << 20)",
        lambda e: b"MemoryError" in e.stderr,
    ),
    Check(
        "so is that of two",
        "memory_bytes",
        "import os, time\nfor n in range(2):\n    if os.fork() == 0:\n"
        "        block = bytearray(80 << 20)\n        time.sleep(60)\ntime.sleep(60)",
        lambda e: e.ending == OutOfMemory() or _is_alone(e),
        msgspec.structs.replace(LIMITS.with_seconds(5), memory_bytes=128 * MIB),
    ),
    Check(
        "output is limited",
        "output_bytes",
        "print('x' * 10**6)",
        lambda e: e.ending == OutputTooLong(),
    ),
    Check(
        "a file is limited",
        "file_bytes",
        "open('x', 'wb').write(bytes(2 << 20))",
        lambda e: b"File too large" in e.stderr,
    ),
    Check(
        "open files are limited",
        "open_files",
        "import os\nfor n in range(1000):\n    try: os.open('main.py', os.O_RDONLY)\n"
        "    except OSError: break\nprint(n)",
        lambda e: e.stdout.strip().isdigit() and 0 < int(e.stdout) < LIMITS.open_files,
    ),
    Check(
        "scratch is limited",
        "scratch_bytes",
        "import time\nfor n in range(8): open(str(n), 'wb').write(bytes(1 << 20))\ntime.sleep(60)",
        lambda e: b"No space left" in e.stderr or isinstance(e.ending, Denied),
    ),
    Check(
        "processes are limited",
        "processes",
        "import os, time\nfor n in range(40):\n    if os.fork() == 0: time.sleep(5)\ntime.sleep(5)",
        lambda e: e.ending == Exited(1) or isinstance(e.ending, Denied),
    ),
    Check(
        "files are out of sight",
        "files",
        "print(open({file!r}).read())",
        lambda e: SECRET.encode() not in e.stdout and e.ending == Exited(1),
    ),
    Check(
        "no network",
        "network",
        "import socket; socket.create_connection(('127.0.0.1', {port}), 1)",
        lambda e: e.ending == Exited(1),
    ),
    Check(
        "no other processes",
        "other processes",
        "print(open('/proc/{pid}/environ', 'rb').read() and 1)",
        lambda e: e.ending == Exited(1),
    ),
    Check(
        "system calls are few",
        "system calls",
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "print(libc.unshare(1 << 28), ctypes.get_errno())",  # a user namespace of its own
        lambda e: e.stdout == b"-1 1\n" or b"No module named" in e.stderr,  # nothing to call with
    ),
)


def diagnose(name: str, python: str) -> Findings:
    """Open a sandbox and try it; for `auto` also look at what else there is."""
    host = check_host(python)
    probed = probe() if name == "auto" else []
    try:
        sandbox = open_sandbox(name, python)
        enforcement = sandbox.enforcement()
    except (SandboxError, HostError) as error:
        trials = [HostCheck(name="the sandbox opens", held=False, detail=str(error))]
        found = Findings(
            tier=None, isolated=False, works=False, walls={}, toolchains={}, trials=trials
        )
    else:
        try:
            found = _findings(enforcement, list(_try_all(sandbox, enforcement)))
            found = msgspec.structs.replace(found, languages=list(_try_languages(sandbox)))
        finally:
            sandbox.close()
    return _and_all_tiers(found, host, probed, python) if name == "auto" else found


def _findings(enforcement: Enforcement, trials: Sequence[HostCheck]) -> Findings:
    return Findings(
        tier=enforcement.tier,
        isolated=enforcement.isolated,
        works=all(trial.held for trial in trials),
        walls=enforcement.walls,
        toolchains=enforcement.toolchains,
        trials=trials,
    )


def _try_all(sandbox: Sandbox, enforcement: Enforcement) -> Iterator[HostCheck]:
    """Run into every wall that there is said to be."""
    with tempfile.NamedTemporaryFile("w") as file, socket.create_server(("127.0.0.1", 0)) as server:
        file.write(SECRET)
        file.flush()
        Path(file.name).chmod(0o644)
        facts = {"file": file.name, "port": server.getsockname()[1], "pid": os.getpid()}
        for check in CHECKS:
            if check.wall and enforcement.walls[check.wall].startswith("not enforced"):
                continue
            source = check.source.format(**facts) if "{" in check.source else check.source
            execution = sandbox.run(Program(source=source), check.limits)
            yield HostCheck(name=check.name, held=check.holds(execution), detail=_said(execution))


def _try_languages(sandbox: Sandbox) -> Iterator[HostCheck]:
    """Have every language that there are rules for pass its self-test."""
    for name in all_languages():
        try:
            yield HostCheck(name=name, held=True, detail=sandbox.require_language(name))
        except SandboxError as error:
            yield HostCheck(name=name, held=False, detail=str(error).removeprefix(f"{name}: "))
    for name, why in plugin_languages().broken.items():
        yield HostCheck(name=name, held=False, detail=why)


def _said(execution: Execution) -> str:
    """Say in a few words how a program ended."""
    last = execution.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    return last[0] if last and execution.ending == Exited(1) else str(execution.ending)


def _and_all_tiers(
    found: Findings, host: Host, probed: Sequence[HostCheck], python: str
) -> Findings:
    tiers = [_try_tier(tier, python) for tier in ORDER]
    mend = list(remedies(host, probed))
    return msgspec.structs.replace(found, host=probed, tiers=tiers, remedies=mend)


def _try_tier(tier: Tier, python: str) -> TierFound:
    """Open a tier and run a first candidate."""
    try:
        sandbox = open_sandbox(tier, python)
    except (SandboxError, InputError) as error:
        why = str(error).partition("does not work here: ")[2].partition("; proctor doctor")[0]
        return TierFound(tier=tier, works=False, isolated=False, detail=why or str(error))
    try:
        isolated = sandbox.enforcement().isolated
        execution = sandbox.run(Program(source=CHECKS[0].source), LIMITS)
    finally:
        sandbox.close()
    works = CHECKS[0].holds(execution)
    detail = "isolated" if isolated else "NOT ISOLATED"
    return TierFound(
        tier=tier, works=works, isolated=isolated, detail=detail if works else _said(execution)
    )
