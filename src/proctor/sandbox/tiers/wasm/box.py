"""A worker of the wasm tier seen from outside, and the guests that live in it.

Two pipes lead to the worker (see `worker/`); a thread reads what comes out of it. A guest that
has to end is told so, and if it does not heed that at once, because it sleeps in the host, its
worker is killed and another one takes its place. All that is asked of the host is processes, pipes,
threads and folders, so that it works where boxes of other tiers do not.
"""

import contextlib
import json
import marshal
import os
import queue
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from proctor import fork_safe_fds
from proctor.errors import SandboxError, boundary
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox.inside.isolation.cleanup import empty_folder
from proctor.sandbox.inside.isolation.safe_open import open_below
from proctor.sandbox.inside.protocol.frames import MAX_TOTAL
from proctor.sandbox.inside.roles.program import unpack_program
from proctor.sandbox.limits.clock import ProcessLoad, load_of_process
from proctor.sandbox.limits.disk_usage import disk_usage
from proctor.sandbox.supervisor.box import MAX_FILE_BYTES, processors, program_blob
from proctor.sandbox.supervisor.environment import ENVIRONMENT
from proctor.sandbox.supervisor.exchange import ExchangeResult
from proctor.sandbox.tiers.wasm.guest import GONE, START_SECONDS, WasmGuest
from proctor.sandbox.tiers.wasm.temp_dirs import ScratchFolder

HEADER = struct.Struct("<cI")
MAX_SAID = 1 << 16
Said = queue.SimpleQueue[tuple[bytes, bytes]]
GUESTS = {
    **{name: value for name, value in ENVIRONMENT.items() if "THREADS" not in name},
    "HOME": "/tmp",  # noqa: S108  the guest's own
    "TMPDIR": "/tmp",  # noqa: S108
}
del GUESTS["PATH"], GUESTS["LD_BIND_NOW"]


SILENCE = (b"", b"silence")
MARSHAL = 4
"""A format that every Python reads, whatever its version."""


class BoxFolders(NamedTuple):
    """What a worker is started with, and what its guests find."""

    command: Sequence[str]
    """The scratch folder is put behind it."""
    library: str
    """Folder of the standard library, nothing if the module carries it."""
    environment: Mapping[str, str]
    modules: Mapping[str, Any]
    """Role → the modules that it needs, each as the guests' Python compiled it."""
    first: str | bytes
    """What a guest does first."""


class WasmBox:
    """One worker and at most one guest at a time; not safe for several threads at once."""

    def __init__(self, furniture: BoxFolders) -> None:
        """Start a worker."""
        self._furniture = furniture
        self._scratch = ScratchFolder()
        self.scratch = self._scratch.folder
        self.processors = processors()
        self._closed = False
        try:
            self._begin()
        except BaseException:
            self._scratch.remove()
            raise

    def _begin(self) -> None:
        command = [*self._furniture.command, self.scratch, self._furniture.library]
        with _nameless() as errors:
            inward, outward = _pipes()
            self._to, self._from = inward[1], outward[0]
            try:
                with fork_safe_fds.no_forks():
                    self._process = subprocess.Popen(
                        command,
                        stdin=inward[0],
                        stdout=outward[1],
                        stderr=errors,
                        env=dict(self._furniture.environment),
                        pass_fds=self._scratch.held,
                        start_new_session=True,
                    )
            except OSError as error:
                os.close(self._to)
                os.close(self._from)
                self._to = -1
                raise SandboxError(f"cannot start {command[0]}: {error.strerror}") from error
            finally:
                os.close(inward[0])
                os.close(outward[1])
            self.keeper = self._process.pid
            self._said = Said()
            self._thread = threading.Thread(
                target=self._listen, args=(self._from, self._said), daemon=True
            )
            self._thread.start()
            if self.hear(START_SECONDS)[0] == b"H":
                return
            self._end()
            errors.seek(0)
            said = errors.read(MAX_SAID).decode("utf-8", "replace").strip().splitlines()
            raise SandboxError(
                f"the worker does not start: {said[-1] if said else 'no reason given'}"
            )

    @staticmethod
    def _listen(worker: int, said: Said) -> None:
        """Take what a worker says, until it is no more."""
        with os.fdopen(worker, "rb", closefd=False) as messages:
            while len(header := messages.read(HEADER.size)) == HEADER.size:
                kind, length = HEADER.unpack(header)
                payload = messages.read(length)
                if len(payload) < length:
                    break
                said.put((kind, payload))
        said.put(GONE)

    def hear(self, seconds: float) -> tuple[bytes, bytes]:
        """Return what the worker says next; `SILENCE` if it says nothing for so long."""
        try:
            said = self._said.get(timeout=seconds)
        except queue.Empty:
            return SILENCE
        if said == GONE:
            self._said.put(GONE)  # for whoever asks next
        return said

    def tell(self, kind: bytes, payload: bytes = b"") -> None:
        """Send one message; a worker that is gone says so by itself."""
        data = memoryview(HEADER.pack(kind, len(payload)) + payload)
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(self._to, data) :]

    def alive(self) -> bool:
        """Say whether it may be used: it was not closed."""
        return not self._closed

    def follow(self) -> None:
        """Run where the calling thread may run."""
        allowed = processors()
        if allowed != self.processors:
            with contextlib.suppress(OSError):  # where it is not ours to say
                for task in Path(f"/proc/{self.keeper}/task").iterdir():
                    os.sched_setaffinity(int(task.name), allowed)
            self.processors = allowed

    def look(self) -> ProcessLoad | None:
        """Return what the worker has used since it was started, as far as this host tells."""
        load = load_of_process(self.keeper)
        files = disk_usage(self.scratch, self._holders)
        return None if load is None else load._replace(scratch_bytes=files)

    def _holders(self) -> tuple[int, ...]:
        return (self.keeper,) if sys.platform == "linux" else ()

    def start(
        self,
        role: str,
        limits: Limits,
        *,
        program: Program | None = None,
        code: bytes = b"",
        stdin: bytes | None = None,
        finally_: Callable[[], None] | None = None,
    ) -> WasmGuest:
        """Start a guest; without a program it gets a border."""
        own = b"" if program is None else program_blob(program, code)
        guest = WasmGuest(self, limits, border=program is None, finally_=finally_)
        self._order(role, limits, own, stdin or b"", border=program is None)
        return guest

    def exchange(
        self, requests: bytes, limits: Limits, role: str = "candidate", *, wipe: bool = False
    ) -> ExchangeResult:
        """Have a fresh guest answer requests that are all known, or run a program."""
        if wipe:
            self.wipe()
        is_program = role == "program"
        stdin = bytes(unpack_program(memoryview(requests))[3]) if is_program else b""
        guest = WasmGuest(self, limits, border=not is_program, scripted=True)
        self._order(role, limits, requests, stdin, border=not is_program)
        guest.wait()
        execution = guest.finish()
        answers = guest.stage[1:].encode() if is_program else bytes(guest.answers)
        return ExchangeResult(answers, execution)

    def _order(self, role: str, limits: Limits, own: bytes, stdin: bytes, *, border: bool) -> None:
        """Have the worker start a guest; another one, if the last had to be killed."""
        if self._closed:
            raise SandboxError("the box was closed")
        if self._process.poll() is not None:
            self._end()
            self._begin()
        modules = self._furniture.modules.get(role, ())
        given = marshal.dumps((modules, self._furniture.first, role, own), MARSHAL)
        header = {
            "environment": GUESTS,
            "stdin_bytes": len(stdin),
            "output_bytes": limits.output_bytes,
            "answer_bytes": MAX_TOTAL if border else None,
            "memory_bytes": limits.memory_bytes,
            "file_bytes": limits.file_bytes,
            "open_files": limits.open_files,
        }
        self.tell(b"S", json.dumps(header).encode() + b"\n" + stdin + given)

    def hang_up(self) -> None:
        """End the worker and its guest; any thread may, whoever waits for an answer."""
        self._closed = True
        self._process.kill()

    def write(self, path: str, content: bytes) -> None:
        """Put a file into the scratch folder."""
        with boundary(SandboxError, path), os.fdopen(self._open(path, write=True), "wb") as file:
            file.write(content)

    def read(self, path: str, max_bytes: int = MAX_FILE_BYTES) -> bytes:
        """Return a file of the scratch folder, or so much of it."""
        with boundary(SandboxError, path), os.fdopen(self._open(path, write=False), "rb") as file:
            return file.read(max_bytes)

    def _open(self, path: str, *, write: bool) -> int:
        return open_below(self.scratch, path, write=write)

    def wipe(self) -> None:
        """Empty the scratch folder."""
        with boundary(SandboxError, "the scratch folder cannot be emptied"):
            empty_folder(self.scratch)

    def kill(self) -> None:
        """End the worker, whatever it does; the next guest gets another."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the worker and remove its folder."""
        self._closed = True
        self._end()
        self._scratch.remove()

    def _end(self) -> None:
        if self._to >= 0:
            os.close(self._to)
            self._to = -1
            self.kill()  # its guest has to go, and itself has nothing to save
            self._thread.join()
            os.close(self._from)


def _pipes() -> tuple[tuple[int, int], tuple[int, int]]:
    with boundary(SandboxError, "cannot start a worker"):
        first = fork_safe_fds.pipe()
        try:
            return first, fork_safe_fds.pipe()
        except OSError:
            os.close(first[0])
            os.close(first[1])
            raise


def _nameless() -> IO[bytes]:
    with boundary(SandboxError, "cannot start a worker"):
        return tempfile.TemporaryFile()
