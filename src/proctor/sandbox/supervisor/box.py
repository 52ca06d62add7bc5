"""A box seen from outside: a keeper process, and the orders that are sent to it."""

import contextlib
import errno
import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

import msgspec

from proctor import fork_safe_fds
from proctor.cancellation import CANCELLED, Cancelled, is_cancelled
from proctor.errors import GIVES_OUT, HostError, SandboxError, boundary
from proctor.records.execution import Ending
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox.inside.roles.program import pack_program
from proctor.sandbox.limits.cgroup import Cgroup, HostMemory, memory_left
from proctor.sandbox.limits.clock import (
    ProcessLoad,
    Stopwatch,
    child_pids,
    load_of_descendants,
    load_of_namespace,
)
from proctor.sandbox.limits.disk_usage import disk_usage
from proctor.sandbox.supervisor.control_socket import GONE, Answer, Control
from proctor.sandbox.supervisor.environment import ENVIRONMENT
from proctor.sandbox.supervisor.exchange import (
    ExchangeResult,
    KeeperReply,
    exchange_result,
    order_for,
)
from proctor.sandbox.supervisor.guest import PATIENCE_AFTER_KILL, Guest, over_limit
from proctor.sandbox.supervisor.pipes import GuestPipes
from proctor.sandbox.supervisor.temp_dirs import LockedTempDir

START_SECONDS = 30.0
MAX_SAID = 1 << 16
MAX_FILE_BYTES = 100 << 20


class Box:
    """One keeper and at most one guest at a time; not safe for use by several threads at once."""

    def __init__(
        self,
        argv: Callable[[Sequence[int]], Sequence[str]],
        bundle: bytes = b"",
        environment: Mapping[str, str] | None = ENVIRONMENT,
        place: LockedTempDir | None = None,
    ) -> None:
        """Start a keeper: `argv` makes its command line from the descriptors that it inherits.

        These are its end of the control socket and a file with a `bundle` of source. None is the
        environment of this process. The keeper holds its `place`, too, and goes with it.
        """
        self._place = place
        self._group: Cgroup | None = None
        self._host = HostMemory()
        self._shared_bytes = 0  # files that stay from guest to guest
        try:
            self.version = self._begin(argv, bundle, environment)
        except BaseException:
            self._release_resources()
            raise
        self.keeper = self._process.pid
        self._others = 0  # processes below the keeper that are no guests
        self.serial = False  # whether many runs of a program may share their walls
        self.scratch: str | None = None  # a scratch folder whose size we have to watch
        self.processors = processors()

    def _begin(
        self,
        argv: Callable[[Sequence[int]], Sequence[str]],
        bundle: bytes,
        environment: Mapping[str, str] | None,
    ) -> str:
        """Start the keeper and return the version of its Python."""
        ours, theirs = fork_safe_fds.socketpair(socket.SOCK_SEQPACKET)
        self.control = Control(ours)
        with theirs, _file(bundle) as source, _file() as errors:
            fds = [theirs.fileno(), source.fileno()]
            self._process = self._launch(argv(fds), fds, errors, environment)
            theirs.close()
            hello = self._answer()
            if "ready" in hello.header:
                if self._place is not None:
                    self._place.hand_over()
                return str(hello.header["ready"])
            self.close()
            errors.seek(0)
            said = errors.read(MAX_SAID).decode("utf-8", "replace").strip().splitlines()
            raise SandboxError(f"the box does not start: {_reason(said)}")

    def _launch(
        self,
        argv: Sequence[str],
        fds: Sequence[int],
        errors: IO[bytes],
        environment: Mapping[str, str] | None,
    ) -> subprocess.Popen[bytes]:
        try:
            with fork_safe_fds.no_forks():
                return subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    env=environment,
                    pass_fds=[*fds, *([] if self._place is None else [self._place.fd])],
                    start_new_session=True,
                )
        except OSError as error:
            self.control.connection.close()
            what = f"cannot start {argv[0]}: {error.strerror}"
            if error.errno in GIVES_OUT or error.errno == errno.EAGAIN:  # no process more
                raise HostError(what) from error
            raise SandboxError(what) from error

    def find_keeper(self, outside: int | None = None) -> None:
        """Learn which process the keeper is, if another one only stays outside of it."""
        try:
            self.keeper = child_pids(outside or self._process.pid)[0]
        except (OSError, IndexError):
            raise SandboxError("the keeper of the box is gone") from None
        self._others = 1

    def bound(self, group: Cgroup, shared_bytes: int) -> None:
        """Have a cgroup bound what all in the box take, files that guests share included."""
        self._group, self._shared_bytes = group, shared_bytes
        self.control.heed(group.alarm, group.events)
        group.add(self.keeper)

    def _make_room(self, limits: Limits, message_bytes: int) -> None:
        """Let the next guest take what its limits allow."""
        if self._group is not None:
            with boundary(SandboxError, "cannot limit the memory of a box"):
                self._group.allow(memory_left(limits, self._shared_bytes, message_bytes))

    def follow(self) -> None:
        """Run where the calling thread may run."""
        allowed = processors()
        if allowed != self.processors:
            # where it is not ours to say, it runs where it ran before; one that is gone is missed
            with contextlib.suppress(PermissionError, ProcessLookupError):
                os.sched_setaffinity(self.keeper, allowed)
            self.processors = allowed

    def alive(self) -> bool:
        """Say whether the keeper is still there: if not, its end of the socket is closed."""
        return not self.control.wait(0)

    def look(self) -> ProcessLoad | None:
        """Return what all guests of the box use."""
        load = load_of_descendants(self.keeper)
        if load is None:
            return None
        files = 0 if self.scratch is None else disk_usage(self.scratch, self._guests)
        return load._replace(processes=load.processes - self._others, scratch_bytes=files)

    def look_in_namespace(self) -> ProcessLoad | None:
        """Return what guests use that fork from a process behind walls that stay."""
        return load_of_namespace(self.keeper)

    def _guests(self) -> list[int]:
        return child_pids(self.keeper)

    def start(
        self,
        role: str,
        limits: Limits,
        *,
        program: Program | None = None,
        code: bytes = b"",
        stdin: bytes | None = None,
        exec_spec: Mapping[str, Any] | None = None,
        gentle: bool = False,
        extra_fds: Sequence[int] = (),
        finally_: Callable[[], None] | None = None,
    ) -> Guest:
        """Fork a guest and return its outside; without a program it gets a border.

        `exec_spec` is for other languages than Python: see `toolchains/runner.py`. The guest finds
        `extra_fds` after its own descriptors.
        """
        own = program_blob(program, code)
        self._make_room(limits, len(own))
        order: dict[str, Any] = {
            "role": role,
            "limits": msgspec.to_builtins(limits),
        }
        if exec_spec is not None:
            order |= {
                "exec_spec": exec_spec,
                "limits": {**order["limits"], **exec_spec["limits"]},
            }
        with GuestPipes(border=program is None, fed=stdin is not None) as ends:
            self.control.order([*ends.given, *extra_fds], own, do="start", **order)
            answer = self._answer()
            if "started" not in answer.header:
                why = answer.header.get("refused", "no answer")
                raise SandboxError(f"no guest could be started: {why}")
        return Guest(
            self.control,
            limits,
            self.look,
            group=self._group,
            memory_ending_after=self._memory_ending_after,
            outputs=ends.outputs,
            border=ends.border,
            stdin=None if ends.feed is None else (ends.feed, stdin or b""),
            gentle=gentle,
            finally_=finally_,
        )

    def exchange(
        self, requests: bytes, limits: Limits, role: str = "candidate", *, wipe: bool = False
    ) -> ExchangeResult:
        """Have a fresh guest answer requests that are all known, under one clock."""
        return exchange_result(
            self.ask(order_for(role, limits, wipe=wipe), requests, limits), limits
        )

    def ask(
        self,
        order: bytes,
        blob: bytes,
        limits: Limits,
        look: Callable[[], ProcessLoad | None] | None = None,
    ) -> KeeperReply:
        """Have the keeper do what a guest takes its time for, and wait for its one answer."""
        self._make_room(limits, len(blob))
        clock = Stopwatch(limits, look or self.look)
        clock.start()
        self.control.send(order, blob=blob)
        killed: Ending | None = None
        answer = GONE
        while not self._answered(clock, killed):
            if killed is not None:
                self.hang_up()  # a keeper that does not answer a kill is no keeper, for nobody
                break
            killed = self._trouble(clock, limits)
            if killed is not None:
                with contextlib.suppress(SandboxError):  # it is gone, as the next wait will say
                    self.control.order(do="kill")
        else:
            answer = self.control.answer()
        clock.stop()
        if killed is CANCELLED:
            raise Cancelled
        return KeeperReply(answer, self._why(killed, answer), clock)

    def _answered(self, clock: Stopwatch, killed: Ending | None) -> bool:
        """Wait for an answer, as long as one may."""
        if killed is not None:
            return self.control.wait(PATIENCE_AFTER_KILL)
        return self.control.wait_or_alarm(clock.patience())

    def _trouble(self, clock: Stopwatch, limits: Limits) -> Ending | None:
        """Say why a guest has to end, if it has to."""
        if is_cancelled():
            return CANCELLED
        expired = clock.expired()
        if expired is not None:
            return over_limit(expired, limits)
        return None if self._group is None else self._group.memory_ending()

    def _why(self, killed: Ending | None, answer: Answer) -> Ending | None:
        """Say why a guest has ended, unless by itself."""
        told = None
        if self._group is not None and (killed is not None or self.control.alarmed):
            told = self._group.memory_ending()
        elif killed is None:
            # a program that was only prepared has no exit status
            ended = 0 if "prepared" in answer.header else answer.header.get("ended")
            told = self._memory_ending_after(ended)
        return killed or told

    def _memory_ending_after(self, code: int | None) -> Ending | None:
        return (self._group or self._host).memory_ending_after(code)

    def write(self, path: str, content: bytes) -> None:
        """Put a file into the scratch folder."""
        with os.fdopen(self._open(path, write=True), "wb") as file:
            file.write(content)

    def read(self, path: str, max_bytes: int = MAX_FILE_BYTES) -> bytes:
        """Return a file of the scratch folder, or so much of it."""
        with os.fdopen(self._open(path, write=False), "rb") as file:
            return file.read(max_bytes)

    def wipe(self) -> None:
        """Empty the scratch folder."""
        self.control.order(do="wipe")
        answer = self._answer().header
        if "wiped" not in answer:
            raise SandboxError(f"the scratch folder cannot be emptied: {answer.get('refused')}")

    def discard_prepared(self) -> None:
        """End the process of the prepared program."""
        self.control.order(do="discard")
        self._answer()

    def hang_up(self) -> None:
        """Have the keeper end all below it; any thread may, whoever waits for an answer."""
        with contextlib.suppress(OSError):  # it is closed already
            self.control.connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the keeper and all below it."""
        self.control.connection.close()
        try:
            self._process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._release_resources()

    def _release_resources(self) -> None:
        place, self._place = self._place, None
        if place is not None:
            place.remove()
        group, self._group = self._group, None
        if group is not None:
            group.close()

    def _answer(self) -> Answer:
        """Wait for what the keeper says to an order that takes no time; nothing if it hangs."""
        return self.control.answer() if self.control.wait(START_SECONDS) else GONE

    def _open(self, path: str, *, write: bool) -> int:
        self.control.order(do="open", path=path, write=write)
        answer = self._answer()
        if not answer.fds:
            raise SandboxError(f"{path}: {answer.header.get('refused', 'no answer')}")
        return answer.fds[0]


def _reason(said: Sequence[str]) -> str:
    """Return the line that says why something ended: of a traceback the last, else the first."""
    if not said:
        return "no reason given"
    return said[-1] if said[0].startswith("Traceback") else said[0]


def program_blob(program: Program | None, code: bytes = b"", stdin: bytes = b"") -> bytes:
    """Return what is a guest's own: it is sent as bytes, which the keeper wipes."""
    if program is None:
        return pack_program(b"", code)
    words = json.dumps(program.args).encode() if program.args else b""
    return pack_program(program.source.encode("utf-8", "surrogatepass"), code, words, stdin)


def processors() -> set[int]:
    """Return where this thread may run; a process that it starts may run there, too."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


def _file(content: bytes = b"") -> IO[bytes]:
    """Return a nameless file that holds something."""
    with boundary(SandboxError, "cannot start a box"):
        file = tempfile.TemporaryFile()  # noqa: SIM115  the caller closes it
        file.write(content)
        file.seek(0)
        return file
