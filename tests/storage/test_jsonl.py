"""Rows come out of good files, and one sentence out of every other."""

import gc
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.records.encoding import encode
from proctor.storage.jsonl import (
    MAX_LINE,
    Line,
    file_sha256,
    open_bytes,
    read_bounded,
    read_lines,
    read_whole,
    shorten,
)

ROWS = [{"task_id": "a", "completion": "é\n"}, {"task_id": "b", "completion": ""}]
TEXT = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def rows_of(path: Path) -> list[Any]:
    return [line.decode(dict[str, Any]) for line in read_lines(path)]


def complaint(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        rows_of(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.jsonl", TEXT),
        ("rows.jsonl", TEXT.rstrip()),
        ("rows.jsonl", TEXT.replace(b"\n", b"\r\n")),
        ("rows.jsonl", b"\n\n" + TEXT.replace(b"\n", b"\n\n  \n")),
        ("rows.jsonl", b"\xef\xbb\xbf" + TEXT),
        ("rows.jsonl", TEXT.decode().encode()),
        ("rows.json", json.dumps(ROWS).encode()),
        ("rows.json", b"\xef\xbb\xbf \n" + json.dumps(ROWS, indent=4).encode()),
        ("rows.jsonl.gz", gzip.compress(TEXT)),
        ("rows.jsonl.gz", gzip.compress(TEXT[:20]) + gzip.compress(TEXT[20:])),
        ("rows.json.gz", gzip.compress(json.dumps(ROWS).encode())),
        ("rows.jsonl.zst", zstd.compress(TEXT)),
    ],
    ids=lambda given: given if isinstance(given, str) else "",  # archives hold the time
)
def test_every_way_to_write_the_same_rows(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert rows_of(path) == ROWS


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none(), max_size=3)))
def test_whatever_python_writes_is_read(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        text = json.dumps(row).encode()
        assert Line(Path("x"), 1, text).decode(dict[str, Any]) == row


def test_half_a_surrogate_pair_is_read_as_python_writes_it() -> None:
    row = {"completion": "cut off \ud83d", "n": 1}
    assert Line(Path("x"), 1, json.dumps(row).encode()).decode(dict[str, Any]) == row


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_what_python_writes_for_no_number(word: str) -> None:
    line = Line(Path("x"), 7, f'{{"logprob": {word}}}'.encode())
    with pytest.raises(InputError, match=f"^x, line 7: not JSON: {word} is no number$"):
        line.decode(dict[str, Any])


@pytest.mark.parametrize(("depth", "fits"), [(99, True), (100, False), (980, False)])
def test_how_deep_a_row_may_be(depth: int, fits: bool) -> None:
    """Brackets in strings do not count, nor do those that stand side by side."""
    deep = '{"a":' * depth + "[]" + "}" * depth
    wide = ",".join(["[{}]"] * 1000) + ',"' + "[{" * 1000 + '\\\\\\""'
    line = Line(Path("x"), 7, f'{{"a":[{wide}],"b":0}}'.encode())
    line.decode(dict[str, Any])
    line = line._replace(text=deep.encode())
    if fits:
        line.decode(dict[str, Any])
        return
    with pytest.raises(InputError, match=r"^x, line 7: nested more than 100 deep$"):
        line.decode(dict[str, Any])


class Inner(msgspec.Struct):
    n: Annotated[int, msgspec.Meta(ge=0)] | None = None
    word: Literal["a", "b"] = "a"


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    text: str
    inner: list[Inner] = []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "field text is missing"),
        ('{"text": 1}', "field text must be a string, not a whole number"),
        ('{"text": "", "more": 1}', "field more is not known"),
        ('{"text": "", "inner": {}}', "field inner must be an array, not an object"),
        ('{"text": "", "inner": [{}, {"n": 1.5}]}', "field inner[1].n must be a whole number or null, not a number"),
        ('{"text": "", "inner": [{"n": -1}]}', "field inner[0].n must be a whole number >= 0"),
        ('{"text": "", "inner": [{"word": "c"}]}', "field inner[0].word cannot be 'c'"),
        ("7", "it must be an object, not a whole number"),
    ],
)  # fmt: skip
def test_the_field_is_named(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        Line(Path("x"), 7, text.encode()).decode(Outer)
    assert str(caught.value) == f"x, line 7: {said}"


def test_half_a_surrogate_pair_in_an_array(tmp_path: Path) -> None:
    rows = [{"a": "\ud83d"}, {"a": "\U0001f600", "n": 2**70, "x": 0.1}]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows, indent=2))
    assert rows_of(path) == rows


def test_half_a_surrogate_pair_excuses_nothing_else() -> None:
    line = Line(Path("x"), 7, rb'{"completion": "\ud83d", "n": NaN}')
    with pytest.raises(InputError, match=r"^x, line 7: not JSON: NaN is no number$"):
        line.decode(dict[str, Any])
    with pytest.raises(InputError, match=r"^x, line 7: it must be a string, not an object$"):
        line._replace(text=rb'{"completion": "\ud83d"}').decode(str)


def test_blank_lines_count(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('\n\n{"a": 1}\n\n{"a": \n')
    assert complaint(path) == f"{path}, line 5: not JSON: Input data was truncated"


def test_not_json_at_line_17(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n' * 16 + "{'a': 1}\n" + '{"a": 1}\n')
    assert complaint(path) == f"{path}, line 17: not JSON: object keys must be strings (byte 1)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"a": "\xff"}', "not UTF-8: byte 0xff, invalid start byte"),
        (b'{"a": 1e999}', "a field: number out of range"),
        (b'{"a": 1} {"b": 2}', "not JSON: trailing characters"),
        (b'{"a": ' * 100_000, "nested more than 100 deep"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested more than 100 deep"),
        (b'{"a": ' + b"1" * 5000 + b"}", "a field: integer value out of range"),
        (b"17", "it must be an object, not a whole number"),
        (b"null", "it must be an object, not null"),
        (b"\x00\x00", "not JSON"),
    ],
)
def test_what_is_wrong_with_a_line(tmp_path: Path, text: bytes, said: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{}\n" + text + b"\n{}\n")
    assert complaint(path).startswith(f"{path}, line 2: {said}")


def test_an_element_of_an_array_is_called_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text('[\n  {"a": 1},\n\n  3\n]')
    assert complaint(path) == f"{path}, element 2: it must be an object, not a whole number"
    path.write_text('[{"a": 1}, ')
    assert complaint(path) == f"{path}, element 2: not JSON: the file ends before the array does"
    path.write_text('[{"a": 1}] {"a": 2}')
    assert complaint(path) == f"{path}, element 2: not JSON: there is more behind the array"
    path.write_text('[{"a": 1},]')
    assert complaint(path) == f"{path}, element 2: not JSON: Input data was truncated"
    path.write_text('[{"a": ' + "[" * 100_000 + "]" * 100_000 + "}]")
    assert complaint(path) == f"{path}, element 1: nested more than 100 deep"


TOML = """
[[task]]
task_id = "a"
n = 36893488147419103232
code = '''
def f(x):
    return "\\n"
'''

[task.tests]
inputs = [[1, 2.5, true, "é"], []]

[[task]]
task_id = "b"
"""


def test_tables(tmp_path: Path) -> None:
    for name, content in (
        ("rows.toml", TOML.encode()),
        ("rows.toml", b"\xef\xbb\xbf" + TOML.replace("\n", "\r\n").encode()),
        ("rows.toml.gz", gzip.compress(TOML.encode())),
        ("rows.toml.zst", zstd.compress(TOML.encode())),
    ):
        (tmp_path / name).write_bytes(content)
        first, second = rows_of(tmp_path / name)
        assert first["tests"] == {"inputs": [[1, 2.5, True, "é"], []]}
        assert (first["n"], second) == (2**65, {"task_id": "b"})
        assert first["code"] == 'def f(x):\n    return "\\n"\n', "a literal string is kept as it is"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[[task]\n", ": not TOML: Expected ']]' at the end of an array declaration (at line 1, column 7)"),
        (b'[[task]]\na = "\xff"\n', ": not UTF-8: byte 0xff, invalid start byte"),
        (b"a = " + b"[" * 100_000, ": nested more than 100 deep"),
        (b"", ": must be a list of tables of one name, as in [[task]]"),
        (b"[task]\na = 1\n", ": must be a list of tables of one name, as in [[task]]"),
        (b"[[task]]\n[[other]]\n", ": must be a list of tables of one name, as in [[task]]"),
        (b"title = 'x'\n[[task]]\n", ": must be a list of tables of one name, as in [[task]]"),
        (b"[[task]]\n[[task]]\nday = 2026-01-01\n", ", task 2: dates and times have no meaning here"),
        (b"[[task]]\nn = nan\n", ", task 1: not JSON: NaN is no number"),
        (b"task = [1]\n", ", task 1: it must be an object, not a whole number"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_tables(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "rows.toml"
    path.write_bytes(content)
    assert complaint(path) == f"{path}{said}"


def test_tables_are_held_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.storage.jsonl.MAX_LINE", 1 << 20)
    path = tmp_path / "rows.toml"
    path.write_bytes(b"[[task]]\n" + b"#" * (1 << 20))
    assert complaint(path) == f"cannot read {path}: it is longer than 1 MiB"


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    for name, content in (("a", b""), ("b", b"\n \n"), ("c.gz", gzip.compress(b"")), ("d", b"[]")):
        (tmp_path / name).write_bytes(content)
        assert rows_of(tmp_path / name) == []


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    missing = tmp_path / "missing.jsonl"
    assert complaint(missing) == f"cannot read {missing}: No such file or directory"
    assert complaint(missing.with_suffix(".gz")).endswith("No such file or directory")
    assert complaint(missing.with_suffix(".zst")).endswith("No such file or directory")
    assert complaint(tmp_path) == f"cannot read {tmp_path}: it is a folder"
    assert complaint(fifo) == f"cannot read {fifo}: it must be a file, which can be read twice"
    assert "File name too long" in complaint(Path("x" * 5000))


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_torn_archive_at_every_byte(tmp_path: Path, suffix: str) -> None:
    """Wherever it is torn, rows before the tear may come out, and then one sentence."""
    packed = gzip.compress(TEXT) if suffix == ".gz" else zstd.compress(TEXT)
    path = tmp_path / f"rows.jsonl{suffix}"
    for length in range(1, len(packed)):
        path.write_bytes(packed[:length])
        assert complaint(path).startswith(f"cannot read {path}: ")
        with pytest.raises(InputError, match=r"^cannot read "):
            file_sha256(path)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_damaged_archive_at_every_byte(tmp_path: Path, suffix: str) -> None:
    """A flipped bit changes rows or ends in one sentence; nothing else comes out."""
    packed = gzip.compress(TEXT) if suffix == ".gz" else zstd.compress(TEXT)
    path = tmp_path / f"rows.jsonl{suffix}"
    for place in range(len(packed)):
        path.write_bytes(packed[:place] + bytes([packed[place] ^ 0x55]) + packed[place + 1 :])
        with suppress(InputError):
            rows_of(path)


def test_another_encoding_is_named(tmp_path: Path) -> None:
    """As the shell of Windows writes by default."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(TEXT.decode().encode("utf-16"))
    assert complaint(path) == f"cannot read {path}: it is UTF-16; save it as UTF-8"


def test_an_archive_that_is_none(tmp_path: Path) -> None:
    for suffix in (".gz", ".zst"):
        path = tmp_path / f"rows{suffix}"
        path.write_bytes(TEXT)
        assert complaint(path).startswith(f"cannot read {path}: ")


HUGE = """
import resource, sys
from pathlib import Path
from proctor.errors import InputError
from proctor.storage.jsonl import read_lines
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    for line in read_lines(Path(sys.argv[1])):
        line.decode(dict)
except InputError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10, file=sys.stderr)
"""


@pytest.mark.parametrize("bomb", [False, True])
@pytest.mark.parametrize("unit", ["line", "element"])
def test_a_row_of_100_mb_takes_bounded_memory(tmp_path: Path, bomb: bool, unit: str) -> None:
    """Nor does one of a gigabyte, packed into a megabyte, take more."""
    path = tmp_path / ("rows.jsonl.gz" if bomb else "rows.jsonl")
    with gzip.open(path, "wb", 1) if bomb else path.open("wb") as file:
        file.write(b'{}\n{"task_id": "' if unit == "line" else b'[{},{"task_id": "')
        for _ in range(1000 if bomb else 100):
            file.write(b"x" * 1_000_000)
        file.write(b'"}\n' if unit == "line" else b'"}]')
    ran = subprocess.run(
        [sys.executable, "-c", HUGE, str(path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"{path}, {unit} 2: longer than {MAX_LINE >> 20} MiB\n"
    assert int(ran.stderr) < 5 * (MAX_LINE >> 20)


@pytest.mark.slow
def test_an_array_of_very_many_elements_takes_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "rows.json.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(b"[{}")
        file.writelines([b",{}" * 1000] * 2000)
        file.write(b",7]")
    ran = subprocess.run(
        [sys.executable, "-c", HUGE, str(path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"{path}, element 2000002: it must be an object, not a whole number\n"
    assert int(ran.stderr) < 32


def test_what_has_no_business_to_be_long(tmp_path: Path) -> None:
    path = tmp_path / "short"
    path.write_bytes(b"x" * 100)
    assert read_whole(path, 100) == b"x" * 100
    with pytest.raises(InputError, match=r"short: it is longer than 0 MiB$"):
        read_whole(path, 99)
    with Path("/dev/zero").open("rb") as endless, pytest.raises(InputError) as caught:
        read_bounded("/dev/zero", endless, 1 << 20)
    assert str(caught.value) == "cannot read /dev/zero: it is longer than 1 MiB"


def test_a_line_just_short_enough(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    frame = b'{"a": ""}\n'
    path.write_bytes(frame.replace(b'""', b'"' + b"x" * (MAX_LINE - len(frame)) + b'"'))
    assert path.stat().st_size == MAX_LINE
    assert len(rows_of(path)[0]["a"]) == MAX_LINE - len(frame)


def test_a_stream_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{}\nnot JSON\n")
    lines = read_lines(path)
    assert next(lines).number == 1


def test_digest_is_of_the_content(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"
    plain.write_bytes(TEXT)
    packed.write_bytes(gzip.compress(TEXT))
    assert file_sha256(plain) == file_sha256(packed)
    assert len(file_sha256(plain)) == 64


def test_descriptors_are_closed(tmp_path: Path, all_closed: None) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(TEXT + b"x")
    complaint(path)
    with open_bytes(path):
        pass
    gc.collect()  # the exception holds the generator that holds the file


class Record(msgspec.Struct):
    text: str
    more: dict[str, Any]


@pytest.mark.parametrize("write", [lambda record: record, msgspec.to_builtins])
def test_encode_spells_out_what_utf8_cannot_have(write: Callable[[Any], Any]) -> None:
    record = write(Record("a\udcffé", {"\ud800": ["\ud800", ("\udfff",), 1, None]}))
    assert json.loads(encode(record)) == {
        "text": "a\\udcffé",
        "more": {"\\ud800": ["\\ud800", ["\\udfff"], 1, None]},
    }


@given(st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.lists(inner)))
def test_encode_changes_nothing_else(value: Any) -> None:
    assert json.loads(encode(value)) == value


def test_brief_is_short() -> None:
    assert shorten("a") == "'a'"
    assert shorten("\x1b[31m") == "'\\x1b[31m'"
    assert len(shorten("x" * 1_000_000)) < 100
