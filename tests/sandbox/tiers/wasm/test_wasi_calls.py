"""A guest may ask its desk for anything, with any numbers: it gets an error, or is stopped."""

import json
import os
import struct

import pytest
import wasmtime
from hypothesis import example, given
from hypothesis import strategies as st

from proctor.sandbox.tiers.wasm.worker.wasi_calls import STAGES, GuestExit, Stop, WasiCalls

ORDER = {"stdin_bytes": 5, "output_bytes": 100, "answer_bytes": 100}
PAGE = 1 << 16
NUMBERS = st.one_of(
    st.integers(-(1 << 31), (1 << 31) - 1),
    st.integers(0, PAGE + 8),
    st.sampled_from([0, 8, PAGE - 4, PAGE - 1, PAGE, -1, -8]),
)


class Heard:
    """Stands for the pipe to the supervisor."""

    def __init__(self) -> None:
        self.messages: list[tuple[bytes, bytes]] = []

    def send(self, kind: bytes, payload: bytes) -> None:
        self.messages.append((kind, payload))


class Served:
    """A desk that serves a memory of one page, with what was said to it."""

    def __init__(self) -> None:
        self.heard = Heard()
        self.desk = WasiCalls(self.heard, json.dumps(ORDER).encode() + b"\nstdingiven")
        self.store = wasmtime.Store()
        kind = wasmtime.MemoryType(wasmtime.Limits(1, 1))
        self.memory = wasmtime.Memory(self.store, kind)
        self.desk.attach(self.store, self.memory)
        kind = wasmtime.GlobalType(wasmtime.ValType.i64(), True)
        self.desk.mask = wasmtime.Global(self.store, kind, wasmtime.Val.i64(7))

    def put(self, at: int, *numbers: int) -> None:
        self.memory.write(self.store, struct.pack(f"<{len(numbers)}I", *numbers), at)

    def number(self, at: int) -> int:
        return struct.unpack("<I", self.memory.read(self.store, at, at + 4))[0]


@given(fd=NUMBERS, vectors=NUMBERS, count=NUMBERS, result=NUMBERS, junk=st.binary(max_size=64))
@example(fd=1, vectors=0, count=1 << 30, result=0, junk=b"\xff" * 64)
@example(fd=1, vectors=0, count=2, result=PAGE, junk=struct.pack("<4I", 0, 50, 0, 60))
@example(fd=0, vectors=0, count=1, result=8, junk=struct.pack("<2I", PAGE - 2, 5))
def test_any_numbers_are_an_error_or_the_end(fd, vectors, count, result, junk):
    served = Served()
    served.memory.write(served.store, junk, 0)
    for ask in (
        lambda: served.desk.fd_read(fd, vectors, count, result),
        lambda: served.desk.fd_write(fd, vectors, count, result),
        lambda: served.desk.opened(vectors, count, result),
        lambda: served.desk.fd_close(fd),
    ):
        try:
            assert ask() in (None, 0, 8)
        except Stop:
            pass
    assert sum(len(payload) for _, payload in served.heard.messages) <= 100
    assert served.memory.data_len(served.store) == PAGE


def test_what_is_written_is_passed_on_up_to_the_limit():
    served = Served()
    served.memory.write(served.store, b"x" * 200, 1000)
    served.put(0, 1000, 60, 1100, 30)
    assert served.desk.fd_write(1, 0, 2, 64) == 0
    assert (served.heard.messages, served.number(64)) == ([(b"O", b"x" * 90)], 90)
    with pytest.raises(Stop):
        served.desk.fd_write(1, 0, 1, 64)
    assert served.desk.too_long
    assert served.heard.messages[1] == (b"O", b"x" * 10)


def test_what_is_given_is_read_piece_by_piece():
    served = Served()
    served.put(0, 1000, 2, 2000, 100)
    assert served.desk.fd_read(0, 0, 2, 64) == 0
    assert served.number(64) == 5
    assert served.memory.read(served.store, 1000, 1002) == b"st"
    assert served.memory.read(served.store, 2000, 2003) == b"din"
    assert served.desk.fd_read(0, 0, 2, 64) == 0
    assert served.number(64) == 0


def test_stages_are_closed_for_good():
    served = Served()
    served.memory.write(served.store, b"stages", 500)
    served.put(0, 500, 1)
    for fd in (7, 9):
        served.put(64, fd)
        served.desk.opened(500, 6, 64)
        assert served.desk.mask.value(served.store) >> fd & 1
        assert served.desk.fd_write(fd, 0, 1, 96) == (0 if fd == 7 else 8)
        assert served.desk.fd_close(fd) == 0
        assert served.desk.fd_close(fd) == 8
    assert served.heard.messages == [(STAGES, b"s")]


def test_a_border_waits_for_what_comes_and_a_kill_ends_the_wait():
    served = Served()
    served.memory.write(served.store, b"border", 500)
    served.put(64, 5)
    served.desk.opened(500, 6, 64)
    served.put(0, 1000, 100)
    served.desk.inbox.put(b"hello")
    assert served.desk.fd_read(5, 0, 1, 64) == 0
    assert served.memory.read(served.store, 1000, 1005) == b"hello"
    served.desk.killed = True
    served.desk.inbox.put(b"")
    with pytest.raises(Stop):
        served.desk.fd_read(5, 0, 1, 64)
    assert served.heard.messages == []


@pytest.mark.parametrize("code", [0, 7, 255, 256, -1])
def test_leaving_has_the_code_that_a_process_would_have(code):
    with pytest.raises(GuestExit) as left:
        Served().desk.proc_exit(code)
    assert left.value.code == os.waitstatus_to_exitcode((code & 255) << 8)
