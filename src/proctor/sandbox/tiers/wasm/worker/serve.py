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

What it does is said on its command line, behind the bytes that a guest's own calls may take:

    compile PYTHON.wasm FILE        compile a module into a file, and end
    serve FILE SCRATCH LIBRARY      run guests; LIBRARY is a folder, or nothing
"""

import json
import os
import shutil
import threading
import time
import traceback
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NoReturn

import wasmtime
from wasmtime import Config, Engine, Linker, Module, Store, Trap, WasmtimeError

from .enlarge_stack import STACK_BYTES, STACK_PAGES, enlarge_stack
from .wasi_calls import Channel, GuestExit, Stop, WasiCalls

THREAD_BYTES = 16 << 20
"""More than enough for a guest's own calls and for ours."""
TICK = 0.05
PATIENCE_SECONDS = 1.0

TRAPS = {"STACK_OVERFLOW": 11, "MEMORY_OUT_OF_BOUNDS": 11, "UNREACHABLE": 6}
"""What ends a guest → the number of the signal that ends a process in such a case; else 4."""
ILLEGAL = 4


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
        self._front, self._back = (
            Module(engine, _text(name)) for name in ("front.wat", "back.wat")
        )
        self._linker = Linker(self._engine)
        self._linker.define_wasi()
        self._scratch, self._library = scratch, library
        self._door = str(Path(scratch).parent / "door")
        self._orders: SimpleQueue[bytes] = SimpleQueue()
        self._desk: WasiCalls | None = None

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
                self._desk = WasiCalls(self._channel, payload)
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

    def _end(self, desk: WasiCalls) -> None:
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

    def _run(self, desk: WasiCalls) -> dict[str, Any]:
        """Run a guest to its end and say how that came."""
        desk.begin = time.process_time()
        desk.limit()
        store = Store(self._engine)
        threading.Thread(target=self._tick, args=(desk,), daemon=True).start()
        with store:  # which holds the guest's memory and its files
            how = self._start(store, desk)
            desk.finish()
            return {
                **how,
                "killed": desk.killed,
                "too_long": desk.too_long,
                "cpu_seconds": time.process_time() - desk.begin,
                "memory_bytes": max(desk.memory_bytes() - STACK_BYTES, 0),
            }

    def _start(self, store: Store, desk: WasiCalls) -> dict[str, Any]:
        try:
            start = self._instantiate(store, desk)
        except (WasmtimeError, Trap) as error:
            return {"failed": str(error).strip().splitlines()[0]}
        try:
            start(store)
        except GuestExit as left:
            return {"ended": left.code}
        except Trap as trap:
            code = trap.trap_code
            return {"ended": -TRAPS.get("" if code is None else code.name, ILLEGAL)}
        except (Stop, WasmtimeError):  # whatever happens from here on is the guest's doing
            return {"ended": -ILLEGAL}
        return {"ended": 0}

    def _instantiate(self, store: Store, desk: WasiCalls) -> Any:
        """Put Python and what stands between it and WASI into a store; return its `_start`."""
        store.set_epoch_deadline(1)
        if desk.killed:  # before anybody could have counted
            self._engine.increment_epoch()
        store.set_limits(memory_size=desk.order["memory_bytes"] + STACK_BYTES)
        store.set_wasi(self._world(desk))

        def wasi(name: str) -> Any:
            return self._linker.get(store, WASI, name)

        front = wasmtime.Instance(store, self._front, []).exports(store)
        desk_functions = {
            name: wasmtime.Func(store, _desk_type(name), getattr(desk, name)) for name in DESK
        }
        imports = [
            front[name] if name in OURS else desk_functions[name] if name == EXIT else wasi(name)
            for name in (one.name or "" for one in self._python.imports)
        ]
        python = wasmtime.Instance(store, self._python, imports).exports(store)
        memory = python["memory"]
        memory.grow(store, STACK_PAGES)
        desk.attach(store, memory)
        ours = [desk_functions[name] for name in DESK if name != EXIT]
        back = wasmtime.Instance(
            store, self._back, [memory, front["table"], *map(wasi, OURS), *ours]
        )
        desk.mask = back.exports(store)["mask"]
        return python["_start"]

    def _world(self, desk: WasiCalls) -> wasmtime.WasiConfig:
        """Say all that a guest is given: words, and one folder to write to."""
        world = wasmtime.WasiConfig()
        world.argv = ["python", "-s", "-S", "-B", "-c", BOOT]
        world.env = list(desk.order["environment"].items())
        world.preopen_dir(self._scratch, SCRATCH)
        world.preopen_dir(self._door, DOOR_FOLDER, False)
        if self._library:
            world.preopen_dir(self._library, "/lib", False)
        return world

    def _tick(self, desk: WasiCalls) -> None:
        """Tell how much processor time was used, until it is over."""
        while not desk.done.wait(TICK):
            desk.tick()


WASI = "wasi_snapshot_preview1"
SCRATCH = "/tmp"  # noqa: S108  the guest's own
DOOR_FOLDER = "/door"
"""Where a guest finds what is behind the door; as the second folder it has descriptor 4."""

BOOT = f"""
import marshal, os
border, stages, given = [os.open("{DOOR_FOLDER}/" + name, os.O_RDONLY)
                         for name in ("border", "stages", "given")]
parts = []
while part := os.read(given, 1 << 22):
    parts.append(part)
os.close(given)
modules, first, role, blob = marshal.loads(b"".join(parts))
names = dict()
exec(first if type(first) is str else marshal.loads(first), names)
del parts, part, first
names["begin"](modules, role, blob, (border, stages))
"""

OURS = ("fd_read", "fd_write", "fd_close", "path_open")
"""Functions of WASI that we stand in front of, in the order of the files `front` and `back`."""
EXIT = "proc_exit"
"""What WASI has for it knows fewer exit codes than Python has."""
DESK = {"fd_read": (4, 1), "fd_write": (4, 1), "fd_close": (1, 1), "opened": (3, 0), EXIT: (1, 0)}
"""Methods of a desk that guests call → how many numbers they take and return."""


def _desk_type(name: str) -> wasmtime.FuncType:
    taken, returned = DESK[name]
    number = wasmtime.ValType.i32()
    return wasmtime.FuncType([number] * taken, [number] * returned)


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def main(stack: str, what: str, *rest: str) -> None:
    """Do what the command line says."""
    made = engine(int(stack))
    if what == "compile":
        source, target = rest
        module = Module(made, enlarge_stack(Path(source).read_bytes()))
        Path(target).write_bytes(module.serialize())
        return
    Worker(made, Channel(), *rest).serve()
