"""Elements of an array come out one by one, wherever the file is cut into pieces."""

import io
import json
from typing import IO, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.storage.json_array import BrokenArrayError, iterate_array

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(list('"\\,[]{}')),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


class Drops(io.BytesIO):
    """A file that gives out a few bytes at a time, as one that is being unpacked may."""

    def __init__(self, content: bytes, size: int) -> None:
        super().__init__(content)
        self._size = size

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self._size)


def split(text: str, size: int = 1 << 20, most: int = 1 << 20) -> list[bytes]:
    return list(iterate_array(cast("IO[bytes]", Drops(text.encode(), size)), most))


@given(st.lists(JSON, max_size=6), st.sampled_from([None, 2]), st.booleans(), st.integers(3, 40))
def test_they_are_what_json_says(
    values: list[Any], indent: int | None, ascii_only: bool, size: int
) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=ascii_only)
    assert [json.loads(element) for element in split(text, size)] == values


def test_a_byte_order_mark_and_room_around() -> None:
    assert split("\ufeff [ 1 ,\n[2, 3] ] \n") == [b"1", b"[2, 3]"]
    assert split("[]") == split(" [ \n] ") == []
    assert split("[,]") == [b"", b""], "which is no JSON, as its readers will say"


@pytest.mark.parametrize("text", ["[", "[1", "[1,", '["a', '["a\\', "[[1]", '[{"a": "]"}'])
def test_an_array_without_end(text: str) -> None:
    for size in (1, 3, 100):
        with pytest.raises(BrokenArrayError, match="the file ends before the array does"):
            split(text, size)


def test_more_behind_it() -> None:
    with pytest.raises(BrokenArrayError, match="there is more behind the array"):
        split("[1] [2]")


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_element_has_a_length(size: int) -> None:
    assert split(f'["{"x" * 98}", 1]', size, 100) == [b'"' + b"x" * 98 + b'"', b"1"]
    with pytest.raises(BrokenArrayError, match="longer than"):
        split(f'["{"x" * 99}", 1]', size, 100)
