"""What is refused, in which words, and in which order."""

import base64
import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.records.limits import GIB
from proctor.server.compat.piston.requests import Wrong, address, execute, parse

FILE = {"content": "print(1)"}
GOOD = {"language": "python", "version": "*", "files": [FILE]}


def read(body, max_seconds=300.0, max_memory_bytes=GIB):
    return execute(address(parse(json.dumps(body).encode())), max_seconds, max_memory_bytes)


def message(body):
    with pytest.raises(Wrong) as refused:
        read(body)
    return refused.value.said["message"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"language": None, "version": 1, "files": 1}, "language is required as a string"),
        ({"language": "", "version": 1}, "language is required as a string"),
        ({"version": 3, "files": None}, "version is required as a string"),
        ({"files": {}}, "files is required as an array"),
        ({"files": [FILE, {"name": "x"}]}, "files[1].content is required as a string"),
        ({"files": [None]}, "files[0].content is required as a string"),
        ({"files": []}, "files must include at least one utf8 encoded file"),
        (
            {"files": [{"content": "", "encoding": "hex"}], "run_timeout": "x"},
            "files must include at least one utf8 encoded file",
        ),
        (
            {"run_timeout": "3", "compile_memory_limit": "1"},
            "If specified, compile_memory_limit must be a number",
        ),
        ({"run_timeout": True}, "If specified, run_timeout must be a number"),
        ({"run_timeout": 300001}, "run_timeout cannot exceed the configured limit of 300000"),
        ({"run_cpu_time": -1}, "run_cpu_time must be non-negative"),
        (
            {"run_memory_limit": 2 * GIB},
            f"run_memory_limit cannot exceed the configured limit of {GIB}",
        ),
        ({"stdin": 1}, "stdin must be a string"),
        ({"args": "x"}, "args must be an array of strings"),
        ({"args": ["\0"]}, "args may be at most 256, without null characters"),
        ({"files": [{**FILE, "name": 1}]}, "files[0].name must be a string"),
    ],
)
def test_the_first_thing_that_is_wrong_is_said(change, said):
    assert message({**GOOD, **change}) == said


def test_what_is_left_out_is_as_usual():
    asked = read({**GOOD, "run_timeout": 0, "run_memory_limit": -1, "stdin": None, "args": None})
    assert (asked.run_timeout, asked.run_cpu_time) == (3000, 3000)
    assert (asked.compile_timeout, asked.compile_cpu_time) == (10_000, 10_000)
    assert (asked.run_memory_limit, asked.compile_memory_limit) == (None, None)
    assert (asked.stdin, asked.args) == ("\n", [])
    assert asked.program.name == "file0.code"


def test_standard_input_ends_with_a_newline():
    assert read({**GOOD, "stdin": "a"}).stdin == "a\n"
    assert read({**GOOD, "stdin": "a\n"}).stdin == "a\n"


def test_the_first_text_is_the_program():
    files = [
        {"name": "data", "content": "AAEC/w", "encoding": "base64"},
        {"name": "more", "content": "00fFz0", "encoding": "hex"},
        {"name": "odd", "content": "x", "encoding": "rot13"},
        {"name": "main.py", "content": "print(1)", "encoding": "utf8"},
    ]
    asked = read({**GOOD, "files": files})
    assert [file.content for file in asked.files] == [
        *(b"\x00\x01\x02\xff", b"\x00\xff", b"x", b"print(1)")
    ]
    assert asked.program.name == "odd"


@pytest.mark.parametrize("body", [b"{", b'"x"', b"1", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_said_with_a_stack(body):
    with pytest.raises(Wrong) as refused:
        parse(body)
    assert refused.value.said["stack"].startswith("SyntaxError: ")


def test_nothing_and_an_array_say_nothing():
    assert parse(b"") == {}
    assert parse(b"[1]") == {}


@given(st.binary())
def test_files_cross_whole(data):
    encoded = {"base64": base64.b64encode(data).decode(), "hex": data.hex()}
    for encoding, content in encoded.items():
        rows = [FILE, {"content": content, "encoding": encoding}]
        assert read({**GOOD, "files": rows}).files[1].content == data


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda some: st.lists(some) | st.dictionaries(st.sampled_from([*GOOD, "content"]), some),
    )
)
def test_whatever_is_sent_is_read_or_refused(value):
    for body in (value, *({**GOOD, name: value} for name in ("stdin", "files", "args"))):
        with contextlib.suppress(Wrong):
            assert read(body).program
