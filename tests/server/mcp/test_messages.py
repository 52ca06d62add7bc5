"""JSON-RPC: what a line may hold, and what is said of one that holds something else."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.server.mcp.messages import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Message,
    RpcError,
    Unreadable,
    answer,
    notification,
    parse,
    refusal,
)
from proctor.server.mcp.session import Call


def test_requests_and_notifications():
    found = parse(b'{"jsonrpc": "2.0", "id": "a", "method": "m", "params": {"x": [1, 2]}}')
    assert found is not None
    assert (found.method, found.id, bytes(found.params)) == ("m", "a", b'{"x": [1, 2]}')
    found = parse(b'{"jsonrpc": "2.0", "method": "m"}')
    assert found is not None
    assert (found.id, bytes(found.params)) == (None, b"{}")


def test_answers_are_not_for_us():
    assert parse(b'{"jsonrpc": "2.0", "id": 1, "result": {}}') is None
    assert parse(b'{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}') is None


@pytest.mark.parametrize(
    ("line", "code", "id_", "said"),
    [
        (b"nonsense", PARSE_ERROR, None, "not JSON"),
        (b'{"jsonrpc": "2.0", "id": 1', PARSE_ERROR, None, "not JSON"),
        (b"\xff\xfe", PARSE_ERROR, None, "not JSON"),
        (b"[" * 100_000, INVALID_REQUEST, None, "one object"),
        (b'{"params":' * 100_000, PARSE_ERROR, None, "nested"),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', INVALID_REQUEST, None, "no batches"),
        (b"7", INVALID_REQUEST, None, "one object"),
        (b'{"id": 1, "method": "ping"}', INVALID_REQUEST, 1, "jsonrpc"),
        (b'{"jsonrpc": "1.0", "id": "x", "method": "ping"}', INVALID_REQUEST, "x", "jsonrpc"),
        (b'{"jsonrpc": "2.0", "id": 1}', INVALID_REQUEST, 1, "method"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', INVALID_REQUEST, 1, "method"),
        (b'{"jsonrpc": "2.0", "id": null, "method": "x"}', INVALID_REQUEST, None, "id"),
        (b'{"jsonrpc": "2.0", "id": true, "method": "x"}', INVALID_REQUEST, None, "id"),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "x"}', INVALID_REQUEST, None, "id"),
        (b'{"jsonrpc": "2.0", "id": "' + b"x" * 2000 + b'", "method": "x"}', INVALID_REQUEST, None, "id"),
    ],
)  # fmt: skip
def test_what_is_no_message(line, code, id_, said):
    with pytest.raises(Unreadable) as refused:
        parse(line)
    assert (refused.value.code, refused.value.id) == (code, id_)
    assert said in str(refused.value)
    assert len(str(refused.value)) < 300


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(line):
    with contextlib.suppress(Unreadable):
        found = parse(line)
        assert found is None or isinstance(found, Message)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(st.fixed_dictionaries({"jsonrpc": st.just("2.0")}, optional=dict.fromkeys(("id", "method", "params", "result"), JSON)))  # fmt: skip
def test_any_object_is_a_message_or_refused(message):
    with contextlib.suppress(RpcError):
        found = parse(json.dumps(message).encode())
        assert found is None or isinstance(found.read(Call), Call)


def test_lines_are_one_line_each():
    for line in (
        answer(1, {"text": "a\nb\r\u2028"}),
        refusal(None, RpcError(1, "a\nb", {"x": 1})),
        notification("m", {"x": "\n"}),
    ):
        assert line.count(b"\n") == 1
        assert json.loads(line)["jsonrpc"] == "2.0"
    assert json.loads(refusal(2, RpcError(1, "x"))) == {
        "jsonrpc": "2.0",
        "id": 2,
        "error": {"code": 1, "message": "x"},
    }
