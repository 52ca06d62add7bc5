"""What this host can enforce, found out by trying it, up to a first candidate."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from proctor.errors import SandboxError
from proctor.program import Program
from proctor.sandbox import MIB, Enforcement, Execution, Exited, Limits, Sandbox, TimedOut
from proctor.sandbox.choose import open_sandbox

SECONDS = 0.5


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was tried, and what came of it."""

    name: str
    held: bool
    detail: str


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """All that was found out about one sandbox on this host."""

    tier: str | None
    isolated: bool
    works: bool
    walls: Mapping[str, str]
    toolchains: Mapping[str, str]
    trials: Sequence[Trial]

    def lines(self) -> Iterator[str]:
        """Yield the findings as text."""
        isolated = "isolated" if self.isolated else "NOT ISOLATED: run only code that you trust"
        yield f"sandbox: {self.tier or 'none'} ({isolated})"
        for language, toolchain in self.toolchains.items():
            yield f"  {language:<18} {toolchain}"
        for wall, how in self.walls.items():
            yield f"  {wall:<18} {how}"
        yield "tried:"
        for trial in self.trials:
            yield f"  {'ok  ' if trial.held else 'FAIL'} {trial.name:<22} {trial.detail}"


PROGRAMS: Sequence[tuple[str, str, type]] = (
    ("a program runs", "print(6 * 7)", Exited),
    ("a busy loop ends", "while True: pass", TimedOut),
    ("a sleeper ends", "import time; time.sleep(60)", TimedOut),
    ("memory is limited", "bytearray(600 << 20)", Exited),
)


def examine_host(name: str, python: str) -> Findings:
    """Open a sandbox and try it."""
    try:
        sandbox = open_sandbox(name, python)
        enforcement = sandbox.enforcement()
    except SandboxError as error:
        trial = Trial(name="the sandbox opens", held=False, detail=str(error))
        return Findings(
            tier=None, isolated=False, works=False, walls={}, toolchains={}, trials=[trial]
        )
    try:
        trials = list(_try_all(sandbox))
    finally:
        sandbox.close()
    return _findings(enforcement, trials)


def _findings(enforcement: Enforcement, trials: Sequence[Trial]) -> Findings:
    return Findings(
        tier=enforcement.tier,
        isolated=enforcement.isolated,
        works=all(trial.held for trial in trials),
        walls=enforcement.walls,
        toolchains=enforcement.toolchains,
        trials=trials,
    )


def _try_all(sandbox: Sandbox) -> Iterator[Trial]:
    limits = msgspec.structs.replace(Limits().with_seconds(SECONDS), memory_bytes=512 * MIB)
    for name, source, expected in PROGRAMS:
        execution = sandbox.run(Program(source=source), limits)
        held = isinstance(execution.ending, expected) and _as_expected(name, execution)
        yield Trial(name=name, held=held, detail=str(execution.ending))


def _as_expected(name: str, execution: Execution) -> bool:
    if name == "a program runs":
        return execution.ending == Exited(0) and execution.stdout == b"42\n"
    if name == "memory is limited":
        return b"MemoryError" in execution.stderr
    return True
