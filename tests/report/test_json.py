"""One JSON object on one line, which a terminal can show."""

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from proctor.report.json import render

VALUES = st.recursive(
    st.text() | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_it_means_the_same_and_is_printable(value: object) -> None:
    text = render(value)
    assert json.loads(text) == value
    assert text.isprintable()


class Record(msgspec.Struct):
    name: str


def test_records() -> None:
    assert render(Record("é")) == '{"name":"é"}'
    assert render(Record("\x9b\u202e\U000e0001")) == r'{"name":"\u009b\u202e\udb40\udc01"}'
    assert render(Record("\ud800")) == r'{"name":"\\ud800"}'
