"""Compile a program where its language asks for it, and know what became of it.

A compiler runs in the sandbox with nothing but the candidate in sight and limits of its own. What
it leaves is kept for programs that are the same; so is what it had to say against one. Only so many
compile at once, and one that gave out, mostly for want of memory, is tried once more alone, when
no other takes any. What a compiler says is the program's to choose: it decides nothing.
"""

import hashlib
import os
import re
import signal
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager

import msgspec

from proctor.cancellation import Cancelled, raise_if_cancelled
from proctor.errors import SandboxError
from proctor.languages.toolchain import Toolchain
from proctor.records.execution import Execution, Exited, OutputTooLong, Signalled, TimedOut
from proctor.records.limits import GIB, MIB, Limits
from proctor.records.program import Program
from proctor.records.verdict import Bucket

LIMITS = Limits(
    cpu_seconds=30.0,
    wall_seconds=30.0,
    memory_bytes=2 * GIB,
    output_bytes=64 * MIB,
    file_bytes=256 * MIB,
    scratch_bytes=512 * MIB,
    open_files=1024,
)
"""What a compiler may use; no usual program comes near it."""
KEPT_BYTES = 256 * MIB
"""How much of what compilers left is kept for programs that are the same."""
ENTRY_BYTES = 1024
"""What each of them takes besides."""
KEPT_DIAGNOSTICS = MIB
"""How much is kept of what a compiler says; receipts keep less."""
MAX_RUNNING = max(os.cpu_count() or 1, 1)
KILLED = re.compile(
    rb"(?:Killed|File size limit exceeded|CPU time limit exceeded) signal terminated program"
)
"""What the driver of a compiler says when the part that does the work was killed, which we would
know if a limit had. A program can have it said, so it is worth one more try and no more."""


class CompiledProgram(msgspec.Struct, frozen=True, kw_only=True):
    """What a compiler left, packed."""

    files: bytes
    execution: Execution | None = None
    """How the compiler ended, and what it said; None if there was nothing to compile."""


class CompileFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A program that did not compile."""

    execution: Execution
    """How the compiler ended; its standard error is the first of what it said."""


class BuildRecipe(msgspec.Struct, frozen=True, kw_only=True):
    """Files, and the commands that make others of them."""

    files: Mapping[str, bytes]
    steps: Sequence[Sequence[str]]
    products: Sequence[str]
    headers: tuple[str, ...] = ()
    """What the first step begins by reading, which may have been compiled beforehand."""
    instances: str = ""
    """Declarations behind them of templates that are instantiated elsewhere."""

    def digest(self, toolchain: Toolchain) -> str:
        """Return what tells apart recipes that a compiler could tell apart."""
        parts = [toolchain.language.name, toolchain.version, self.steps, self.headers]
        parts += [self.instances] if self.headers else []
        digest = hashlib.sha256(msgspec.json.encode(parts))
        for name, content in sorted(self.files.items()):
            digest.update(f"\0{name}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()


Outcome = CompiledProgram | CompileFailure
Compile = Callable[[], Execution]


def bucket_of(execution: Execution) -> Bucket:
    """Say why a program did not compile, by how its compiler ended."""
    match execution.ending:
        case TimedOut():
            return Bucket.COMPILE_TIMEOUT
        case Exited() | OutputTooLong():
            return Bucket.COMPILE
    return Bucket.COMPILE_RESOURCE


class Builder:
    """Compiles programs, equal ones once; safe for use by several threads."""

    def __init__(self, max_running: int = MAX_RUNNING, kept_bytes: int = KEPT_BYTES) -> None:
        self._max_running = max_running
        self._free_slots = threading.Semaphore(max_running)
        self._clearing = threading.Lock()
        self._making: dict[str, Future[Outcome]] = {}
        self._kept: OrderedDict[str, Outcome] = OrderedDict()
        self._bytes = 0
        """What is kept comes to."""
        self._kept_bytes = kept_bytes
        self._lock = threading.Lock()

    def build(
        self, program: Program, toolchain: Toolchain, compile_: Compile, limits: Limits = LIMITS
    ) -> Outcome:
        """Return what the compiler made of a program under limits, or why it made nothing.

        One that gives out on a program when it is alone gives out because of the program.
        """
        key = f"{digest(program, toolchain)} {limits}"  # who allows less must not fail others
        return self.build_as(key, toolchain, compile_)

    def build_as(self, key: str, toolchain: Toolchain, compile_: Compile) -> Outcome:
        """Do the same for whatever is known by a key: what has the same key is the same."""
        while True:
            try:
                return self._build_once(key, toolchain, compile_)
            except Cancelled:
                raise_if_cancelled()  # else it was who compiled the same and has gone meanwhile

    def is_building(self, key: str) -> bool:
        """Say whether what is known by a key is being compiled at this moment."""
        with self._lock:
            return key in self._making

    def _build_once(self, key: str, toolchain: Toolchain, compile_: Compile) -> Outcome:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            other = self._making.get(key)
            if other is None:
                mine = self._making[key] = Future()
        if other is not None:
            return other.result()
        try:
            outcome = self._build(toolchain, compile_)
        except BaseException as error:
            self._done(key, None)
            mine.set_exception(error)
            raise
        self._done(key, outcome)
        mine.set_result(outcome)
        return outcome

    def _build(self, toolchain: Toolchain, compile_: Compile) -> Outcome:
        with self._free_slots:
            first = compile_()
        outcome = outcome_of(toolchain, first)
        killed = isinstance(first.ending, Exited) and KILLED.search(first.stderr)
        if not _starved(outcome) and not killed:
            return outcome
        with self._alone():
            return outcome_of(toolchain, compile_())

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until nobody compiles, and let nobody begin."""
        taken = 0
        with self._clearing:  # two who each hold half of the seats would wait for ever
            try:
                while taken < self._max_running:
                    self._free_slots.acquire()
                    taken += 1
                yield
            finally:
                self._free_slots.release(taken)

    def _done(self, key: str, outcome: Outcome | None) -> None:
        """Keep what came of a key, and drop what was not asked for for longest if it is much."""
        with self._lock:
            del self._making[key]
            if outcome is None or not _is_final(outcome):
                return  # it may go better next time
            self._kept[key] = outcome
            self._bytes += _size(outcome)
            while self._bytes > self._kept_bytes and len(self._kept) > 1:
                self._bytes -= _size(self._kept.popitem(last=False)[1])


def digest(program: Program, toolchain: Toolchain) -> str:
    """Return what tells apart programs that a compiler could tell apart."""
    parts = (
        *(toolchain.language.name, toolchain.version),
        *toolchain.compiler(tests=program.tests),
        program.source,
    )
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def pack_files(files: Mapping[str, bytes]) -> bytes:
    """Return files as they are sent into a box, and as a compiler's come out of it."""
    index = [[name, len(content)] for name, content in files.items()]
    return msgspec.json.encode(index) + b"\n" + b"".join(files.values())


def unpack_files(packed: bytes) -> dict[str, bytes]:
    """Return the files that a compiler left."""
    end = packed.find(b"\n") + 1
    try:
        index = msgspec.json.decode(packed[:end], type=list[tuple[str, int]])
    except msgspec.DecodeError as error:
        raise SandboxError(f"a compiler left what is no file: {error}") from None
    files = {}
    for name, size in index:
        files[name] = packed[end : end + size]
        end += size
    return files


def outcome_of(toolchain: Toolchain, execution: Execution) -> Outcome:
    """Make sense of how a compiler ended; that it gave out is told by its status, not by words."""
    if execution.ending == Exited(0):
        files, stderr = execution.stdout, execution.stderr[:KEPT_DIAGNOSTICS]
        said = msgspec.structs.replace(execution, stdout=b"", stderr=stderr)
        return CompiledProgram(files=files, execution=said)
    match execution.ending:
        case Exited(status) if status in toolchain.language.crashed:
            ending = Signalled(int(signal.SIGABRT))
            execution = msgspec.structs.replace(execution, ending=ending)
    stderr = execution.stderr[:KEPT_DIAGNOSTICS]
    return CompileFailure(
        execution=msgspec.structs.replace(execution, stdout=b"", stderr=stderr, compiled=False)
    )


def _starved(outcome: Outcome) -> bool:
    return (
        isinstance(outcome, CompileFailure)
        and bucket_of(outcome.execution) is Bucket.COMPILE_RESOURCE
    )


def _is_final(outcome: Outcome) -> bool:
    return isinstance(outcome, CompiledProgram) or bucket_of(outcome.execution) is Bucket.COMPILE


def _size(outcome: Outcome) -> int:
    kept = outcome.files if isinstance(outcome, CompiledProgram) else outcome.execution.stderr
    return ENTRY_BYTES + len(kept)
