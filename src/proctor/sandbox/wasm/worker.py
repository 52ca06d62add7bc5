"""The process that runs guests of the wasm tier, one after the other, each in a store of its own.

It is started as a fresh interpreter and imports wasmtime and the standard library, nothing of
proctor. Messages come over standard input and go out over standard output, each a letter, a length
and bytes, so that two pipes are all that it takes, on any system.

    to the worker                            from the worker
    S  an order, and bytes that belong to it  H  it is ready
    B  bytes over the border                  O, E, B, G  written to stdout, stderr, border, stages
    K  end the guest                          T  processor time up to now
                                              D  how the guest ended

When standard input closes, for whatever reason, the worker ends at once, and its guest with it.

    worker.py SITE STACK compile PYTHON.wasm FILE      compile a module into a file, and end
    worker.py SITE STACK serve FILE SCRATCH LIBRARY    run guests; LIBRARY is a folder, or nothing

SITE is where wasmtime is installed, STACK how many bytes a guest's own calls may take.
"""

import json
import os
import shutil
import struct
import sys
import threading
import time
import traceback
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NoReturn

sys.path.append(sys.argv.pop(1))  # where wasmtime is, which may be a folder of the user's

import wasmtime
from wasmtime import Config, Engine, ExitTrap, Linker, Module, Store, Trap, WasmtimeError

if sys.platform != "win32":
    import resource

HEADER = struct.Struct("<cI")
THREAD_BYTES = 16 << 20
"""More than enough for a guest's own calls and for ours."""
TICK = 0.05
PATIENCE_SECONDS = 1.0

TRAPS = {"STACK_OVERFLOW": 11, "MEMORY_OUT_OF_BOUNDS": 11, "UNREACHABLE": 6}
"""What ends a guest → the number of the signal that ends a process in such a case; else 4."""
ILLEGAL = 4


class Channel:
    """The pipes between supervisor and worker."""

    def __init__(self) -> None:
        self._in = os.fdopen(os.dup(0), "rb")
        self._out = os.fdopen(os.dup(1), "wb", buffering=0)
        self._lock = threading.Lock()
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)  # whatever else is read or printed here is no message
        os.dup2(nothing, 1)
        os.close(nothing)

    def send(self, kind: bytes, payload: bytes) -> None:
        """Send one message whole."""
        data = memoryview(HEADER.pack(kind, len(payload)) + payload)
        with self._lock:
            try:
                while data:
                    data = data[self._out.write(data) :]
            except OSError:
                os._exit(1)  # nobody listens

    def receive(self) -> tuple[bytes, bytes] | None:
        """Wait for one message; None if the supervisor is gone."""
        header = self._in.read(HEADER.size)
        if len(header) < HEADER.size:
            return None
        kind, length = HEADER.unpack(header)
        payload = self._in.read(length)
        return (kind, payload) if len(payload) == length else None


def engine(stack_bytes: int) -> Engine:
    """Return what compiles and runs: the same settings for both, or a module is refused."""
    config = Config()
    config.epoch_interruption = True
    config.max_wasm_stack = stack_bytes
    return Engine(config)


class Worker:
    """One guest at a time."""

    def __init__(
        self, engine: Engine, channel: Channel, module: str, scratch: str, library: str
    ) -> None:
        self._channel = channel
        self._engine = engine
        self._python = Module.deserialize_file(self._engine, module)
        self._front, self._back = Module(engine, front()), Module(engine, back())
        self._linker = Linker(self._engine)
        self._linker.define_wasi()
        self._scratch, self._library = scratch, library
        self._door = str(Path(scratch).parent / "door")
        self._orders: SimpleQueue[bytes] = SimpleQueue()
        self._desk: Desk | None = None

    def serve(self) -> None:
        """Run what is ordered until the supervisor is gone."""
        threading.stack_size(THREAD_BYTES)
        threading.Thread(target=self._work, daemon=True).start()
        threading.stack_size(0)
        self._channel.send(b"H", b"")
        while (message := self._channel.receive()) is not None:
            kind, payload = message
            desk = self._desk
            if kind == b"S":
                self._desk = Desk(self._channel, payload)
                self._orders.put(payload)
            elif kind == b"B" and desk is not None:
                desk.inbox.put(payload)
            elif kind == b"K" and desk is not None:
                self._end(desk)
        self._leave()

    def _leave(self) -> NoReturn:
        """End the guest, leave no folder behind, and end."""
        if self._desk is not None:
            self._end(self._desk)
            self._desk.done.wait(PATIENCE_SECONDS)
        shutil.rmtree(Path(self._scratch).parent, ignore_errors=True)
        os._exit(0)  # the thread that runs guests waits for ever

    def _end(self, desk: "Desk") -> None:
        desk.killed = True
        desk.inbox.put(b"")
        self._engine.increment_epoch()

    def _work(self) -> NoReturn:
        try:
            while True:
                self._orders.get()
                assert self._desk is not None  # noqa: S101
                self._channel.send(b"D", json.dumps(self._run(self._desk)).encode())
        finally:
            traceback.print_exc()
            os._exit(1)  # which tells the supervisor that it was not the guest

    def _run(self, desk: "Desk") -> dict[str, Any]:
        """Run a guest to its end and say how that came."""
        desk.begin = time.process_time()
        desk.limit()
        store = Store(self._engine)
        threading.Thread(target=self._tick, args=(desk,), daemon=True).start()
        with store:  # which holds the guest's memory and its files
            how = self._start(store, desk)
            desk.done.set()
            return {
                **how,
                "killed": desk.killed,
                "too_long": desk.too_long,
                "cpu_seconds": time.process_time() - desk.begin,
                "memory_bytes": desk.memory_bytes(),
            }

    def _start(self, store: Store, desk: "Desk") -> dict[str, Any]:
        try:
            start = self._instantiate(store, desk)
        except (WasmtimeError, Trap) as error:
            return {"failed": str(error).strip().splitlines()[0]}
        try:
            start(store)
        except ExitTrap as end:
            return {"ended": end.code & 255}
        except Trap as trap:
            code = trap.trap_code
            return {"ended": -TRAPS.get("" if code is None else code.name, ILLEGAL)}
        except Stop:
            return {"ended": 0}
        except WasmtimeError as error:
            return {"failed": str(error).strip().splitlines()[0]}
        return {"ended": 0}

    def _instantiate(self, store: Store, desk: "Desk") -> Any:
        """Put Python and what stands between it and WASI into a store; return its `_start`."""
        store.set_epoch_deadline(1)
        if desk.killed:  # before anybody could have counted
            self._engine.increment_epoch()
        store.set_limits(memory_size=desk.order["memory_bytes"])
        store.set_wasi(self._world(desk))

        def wasi(name: str) -> Any:
            return self._linker.get(store, WASI, name)

        front = wasmtime.Instance(store, self._front, []).exports(store)
        imports = [
            front[one.name] if one.name in OURS else wasi(one.name or "")
            for one in self._python.imports
        ]
        python = wasmtime.Instance(store, self._python, imports).exports(store)
        memory = python["memory"]
        desk.attach(store, memory)
        ours = [wasmtime.Func(store, _desk_type(name), getattr(desk, name)) for name in DESK]
        back = wasmtime.Instance(
            store, self._back, [memory, front["table"], *map(wasi, OURS), *ours]
        )
        desk.mask = back.exports(store)["mask"]
        return python["_start"]

    def _world(self, desk: "Desk") -> wasmtime.WasiConfig:
        """Say all that a guest is given: words, and one folder to write to."""
        world = wasmtime.WasiConfig()
        world.argv = ["python", "-s", "-S", "-B", "-c", BOOT]
        world.env = list(desk.order["environment"].items())
        world.preopen_dir(self._scratch, SCRATCH)
        world.preopen_dir(self._door, DOOR_FOLDER, False)
        if self._library:
            world.preopen_dir(self._library, "/lib", False)
        return world

    def _tick(self, desk: "Desk") -> None:
        """Tell how much processor time was used, until it is over."""
        while not desk.done.wait(TICK):
            self._channel.send(b"T", b"%.6f" % (time.process_time() - desk.begin))


class Stop(Exception):
    """The guest goes no further."""


class Desk:
    """What one guest reads from and writes to, and how much of it.

    Its methods are called by the guest, with whatever numbers it likes.
    """

    def __init__(self, channel: Channel, payload: bytes) -> None:
        header, _, rest = payload.partition(b"\n")
        self.order: dict[str, Any] = json.loads(header)
        self.inbox: SimpleQueue[bytes] = SimpleQueue()
        self.killed = self.too_long = False
        self.done = threading.Event()
        self.begin = 0.0
        """How much processor time this process had taken when the guest was set up."""
        self._channel = channel
        self._ends = {0: STDIN, 1: STDOUT, 2: STDERR}
        size = self.order["stdin_bytes"]
        self._sources = {
            STDIN: memoryview(rest)[:size],
            GIVEN: memoryview(rest)[size:],
            BORDER: memoryview(b""),
        }
        output, border = self.order["output_bytes"], self.order["answer_bytes"]
        self._room = {STDOUT: output, STDERR: output, BORDER: border, STAGES: MOST_STAGES}
        self._store: Any = None
        self._memory: Any = None
        self.mask: Any = None
        """A number in the guest's store whose bits say which descriptors are ours."""

    def attach(self, store: Store, memory: Any) -> None:
        """Serve one guest, whose memory this is."""
        self._store, self._memory = store, memory

    def memory_bytes(self) -> int:
        """Return how much memory the guest has."""
        return 0 if self._memory is None else int(self._memory.data_len(self._store))

    def limit(self) -> None:
        """Have the kernel limit files, where it does; this process has no more than its guest's."""
        if sys.platform == "win32":
            return
        own = max(map(int, os.listdir("/dev/fd"))) + 1  # noqa: PTH208
        for which, most in (
            (resource.RLIMIT_FSIZE, self.order["file_bytes"]),
            (resource.RLIMIT_NOFILE, own + self.order["open_files"]),
        ):
            hard = resource.getrlimit(which)[1]
            known = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(which, (known, hard))

    def opened(self, name: int, length: int, result: int) -> None:
        """Learn which descriptor a guest has got for something behind the door."""
        name, length, result = name & MASK, length & MASK, result & MASK
        if length > MOST_NAME or max(name + length, result + 4) > self.memory_bytes():
            raise Stop
        end = DOOR.get(bytes(self._memory.read(self._store, name, name + length)))
        fd = int.from_bytes(self._memory.read(self._store, result, result + 4), "little")
        if end is not None and fd < MOST_DESCRIPTORS:
            self._ends[fd] = end
            self.mask.set_value(self._store, sum(1 << one for one in self._ends))

    def fd_write(self, fd: int, vectors: int, count: int, result: int) -> int:
        """Take what a guest writes, as far as there is room for it."""
        self._mind()
        end = self._ends.get(fd, CLOSED)
        if end not in self._room:
            return BAD_DESCRIPTOR
        data = b"".join(
            self._memory.read(self._store, begin, begin + size)
            for begin, size in self._vectors(vectors, count)
        )
        room = self._room[end]
        if end == STAGES and room == MOST_STAGES:
            self.begin = time.process_time()
        self._room[end] = room - len(data)
        if data:
            self._channel.send(end, data[:room])
        if len(data) > room:
            self.too_long = True
            raise Stop
        return self._answer(result, len(data))

    def fd_read(self, fd: int, vectors: int, count: int, result: int) -> int:
        """Give a guest what there is to read; over the border, wait for it."""
        self._mind()
        end = self._ends.get(fd, CLOSED)
        if end not in self._sources:
            return BAD_DESCRIPTOR
        wanted = self._vectors(vectors, count)
        if end == BORDER and not self._sources[end]:
            self._sources[end] = memoryview(self.inbox.get())
            self._mind()
        total = 0
        for begin, size in wanted:
            part, self._sources[end] = self._sources[end][:size], self._sources[end][size:]
            if part:
                self._memory.write(self._store, part, begin)
            total += len(part)
        return self._answer(result, total)

    def fd_close(self, fd: int) -> int:
        """Close one of ours; its number is never given to another file."""
        if self._ends.get(fd, CLOSED) == CLOSED:
            return BAD_DESCRIPTOR
        self._ends[fd] = CLOSED
        return 0

    def _mind(self) -> None:
        if self.killed:
            raise Stop

    def _vectors(self, begin: int, count: int) -> list[tuple[int, int]]:
        """Read where in a guest's memory something is to lie, all of it within that memory."""
        begin, count, size = begin & MASK, count & MASK, self.memory_bytes()
        if count > MOST_VECTORS or begin + 8 * count > size:
            raise Stop
        raw = bytes(self._memory.read(self._store, begin, begin + 8 * count))
        found: list[tuple[int, int]] = []
        room = MOST_BYTES
        for at, length in struct.iter_unpack("<II", raw):
            if at + length > size:
                raise Stop
            found.append((at, min(length, room)))
            room -= found[-1][1]
        return found

    def _answer(self, result: int, number: int) -> int:
        result &= MASK
        if result + 4 > self.memory_bytes():
            raise Stop
        self._memory.write(self._store, struct.pack("<I", number), result)
        return 0


WASI = "wasi_snapshot_preview1"
SCRATCH = "/tmp"  # noqa: S108  the guest's own
MASK = 0xFFFFFFFF
BAD_DESCRIPTOR = 8
MOST_VECTORS = 1024
MOST_BYTES = 4 << 20
"""Read or written at once."""
MOST_STAGES = 4096
MOST_DESCRIPTORS = 64
MOST_NAME = 16
STDIN, STDOUT, STDERR, BORDER, STAGES, GIVEN, CLOSED = b"I", b"O", b"E", b"B", b"G", b"A", b""
"""What descriptors of ours lead to: where a guest writes to, also the letter of the message."""
DOOR = {b"border": BORDER, b"stages": STAGES, b"given": GIVEN}
DOOR_FOLDER, DOOR_DESCRIPTOR = "/door", 4
"""Where a guest finds them, as files that are empty; and that folder's descriptor."""

BOOT = f"""
import marshal, os
border, stages, given = [os.open("{DOOR_FOLDER}/" + name, os.O_RDONLY)
                         for name in ("border", "stages", "given")]
parts = []
while part := os.read(given, 1 << 22):
    parts.append(part)
os.close(given)
modules, first, role, order, blob = marshal.loads(b"".join(parts))
names = dict()
exec(first if type(first) is str else marshal.loads(first), names)
del parts, part, first
names["begin"](modules, role, order, blob, (border, stages))
"""

OURS = {
    "fd_read": ["i32"] * 4,
    "fd_write": ["i32"] * 4,
    "fd_close": ["i32"],
    "path_open": [*["i32"] * 5, "i64", "i64", "i32", "i32"],
}
"""Functions of WASI that we stand in front of → their parameters; all of them return a number."""
DESK = {"fd_read": 4, "fd_write": 4, "fd_close": 1, "opened": 3}
"""Methods of a desk that guests call → how many parameters they have."""


def _desk_type(name: str) -> wasmtime.FuncType:
    number = wasmtime.ValType.i32()
    return wasmtime.FuncType([number] * DESK[name], [] if name == "opened" else [number])


def _types() -> str:
    return "".join(
        f"(type ${name} (func (param {' '.join(kinds)}) (result i32)))"
        for name, kinds in OURS.items()
    )


def _arguments(name: str) -> str:
    return " ".join(f"(local.get {index})" for index in range(len(OURS[name])))


def front() -> str:
    """Return what Python calls in place of some functions of WASI; it goes on through a table.

    Python has to be there before what the table leads to, which needs Python's memory.
    """
    functions = "".join(
        f"""(func (export "{name}") (type ${name})
            (call_indirect (type ${name}) {_arguments(name)} (i32.const {index})))"""
        for index, name in enumerate(OURS)
    )
    return f"""(module {_types()} (table (export "table") {len(OURS)} funcref) {functions})"""


def back() -> str:
    """Return what sends calls about our descriptors to us, and all else to WASI.

    WASI looks for a memory that its caller exports, which has to be Python's.
    """
    wasi = "".join(
        f"""(import "wasi" "{name}" (func $wasi_{name} (type ${name})))""" for name in OURS
    )
    choices = "".join(
        f"""(func $our_{name} (type ${name})
            (if (result i32)
                (i32.and (i32.lt_u (local.get 0) (i32.const {MOST_DESCRIPTORS}))
                         (i32.wrap_i64 (i64.shr_u (global.get $mask)
                                                  (i64.extend_i32_u (local.get 0)))))
                (then (call $desk_{name} {_arguments(name)}))
                (else (call $wasi_{name} {_arguments(name)}))))"""
        for name in ("fd_read", "fd_write", "fd_close")
    )
    return f"""(module {_types()} (type $opened (func (param i32 i32 i32)))
        (import "python" "memory" (memory 0))
        (import "front" "table" (table {len(OURS)} funcref))
        {wasi}
        {"".join(f'(import "desk" "{name}" (func $desk_{name} (type ${name})))' for name in DESK)}
        (global $mask (export "mask") (mut i64) (i64.const 7))
        (export "memory" (memory 0))
        {choices}
        (func $our_path_open (type $path_open) (local $error i32)
            (local.set $error (call $wasi_path_open {_arguments("path_open")}))
            (if (i32.and (i32.eqz (local.get $error))
                         (i32.eq (local.get 0) (i32.const {DOOR_DESCRIPTOR})))
                (then (call $desk_opened (local.get 2) (local.get 3) (local.get 8))))
            (local.get $error))
        (elem (i32.const 0) {" ".join(f"$our_{name}" for name in OURS)}))"""


def main(stack: str, what: str, *rest: str) -> None:
    """Do what the command line says."""
    made = engine(int(stack))
    if what == "compile":
        source, target = rest
        Path(target).write_bytes(Module.from_file(made, source).serialize())
        return
    Worker(made, Channel(), *rest).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
