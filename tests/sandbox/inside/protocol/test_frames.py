"""Frames survive any cutting of the stream, and hostile streams end in an error."""

import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.sandbox.inside.protocol import frames
from proctor.sandbox.inside.protocol.frames import (
    HEADER,
    MAX_FRAME,
    MAX_NODES,
    Channel,
    Frame,
    Malformed,
    Reader,
    TooLarge,
    dump,
    pack,
    parse,
)

frame_lists = st.lists(
    st.builds(Frame, st.integers(0, 255), st.integers(0, 2**32 - 1), st.binary(max_size=100)),
    max_size=8,
)


@given(frame_lists, st.integers(1, 50))
def test_a_stream_cut_anywhere_gives_the_same_frames(sent, size):
    stream = b"".join(pack(*frame) for frame in sent)
    reader = Reader()
    got = [
        tuple(frame)
        for start in range(0, len(stream), size)
        for frame in reader.feed(stream[start : start + size])
    ]
    assert got == [tuple(frame) for frame in sent]


@given(st.binary(max_size=300))
def test_hostile_bytes_are_frames_or_too_large(data):
    try:
        for frame in Reader().feed(data):
            assert len(frame.payload) <= len(data)
    except TooLarge:
        assert HEADER.unpack_from(data)[0] > MAX_FRAME or len(data) > HEADER.size


def test_a_frame_that_announces_too_much_is_refused_before_it_comes():
    with pytest.raises(TooLarge):
        list(Reader().feed(HEADER.pack(MAX_FRAME + 1, 1, 1)))
    with pytest.raises(TooLarge):
        pack(1, 1, b"x" * (MAX_FRAME + 1))


def test_a_conversation_has_a_total():
    reader = Reader()
    frame = pack(1, 1, b"x" * MAX_FRAME)
    with pytest.raises(TooLarge):
        for _ in range(10):
            list(reader.feed(frame))


@given(st.binary(max_size=200))
def test_a_hostile_payload_parses_or_is_malformed(payload):
    try:
        parse(payload)
    except Malformed:
        pass


@pytest.mark.parametrize(
    "payload",
    [b"[" * 100_000, b"{", b"\xff\xfe", b"1" * 5000, b"[" + b"," * (MAX_NODES + 1) + b"]"],
    ids=["deep", "torn", "not text", "long number", "many values"],
)
def test_payloads_that_would_cost_too_much_are_malformed(payload):
    with pytest.raises(Malformed):
        parse(payload)


@given(st.recursive(st.none() | st.text() | st.floats(allow_nan=False), st.lists))
def test_messages_survive(message):
    assert parse(dump(message)) == message


def test_a_wire_sends_and_receives_whole_frames():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        left, right = Channel(ours.fileno()), Channel(theirs.fileno())
        left.send(frames.CALL, 7, {"a": [1, "ä"]})
        frame = right.receive()
        assert (frame.kind, frame.number, parse(frame.payload)) == (frames.CALL, 7, {"a": [1, "ä"]})
        ours.close()
        assert right.receive() is None


def test_a_forked_child_cannot_answer_in_its_parents_place():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        wire = Channel(theirs.fileno())
        child = os.fork()
        if child == 0:
            wire.send(frames.VALUE, 1, "forged")
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        ours.setblocking(False)
        with pytest.raises(BlockingIOError):
            ours.recv(1)
