"""Integer keys come back where rows of the DeepCoder family have them."""

from typing import Any

import pytest

from proctor import process_input_output


@pytest.mark.parametrize(
    ("inputs", "outputs", "expected"),
    [
        ([{"1": "a"}], [{"2": "b"}], ([{1: "a"}], [{2: "b"}])),
        ([{"1": "a"}], {"2": "b"}, ([{1: "a"}], [{2: "b"}])),
        ([{"1": {"2": 3}}], [1], ([{1: {"2": 3}}], [1])),
        ([{"-1": 0}], [{"+2": 0}], ([{-1: 0}], [{2: 0}])),
        ([{"a": 1}], {"b": 2}, ([{"a": 1}], {"b": 2})),
        ([{"1": 1, "a": 2}], [{"1": 1, "b": 2}], ([{"1": 1, "a": 2}], [{"1": 1, "b": 2}])),
        ([{}], {}, ([{}], [{}])),
        ([], [], ([], [])),
        ([1, {"1": 2}], [1, {"1": 2}], ([1, {"1": 2}], [1, {"1": 2}])),
        ([{"1": 2}, 3], [{"1": 2}, 3], ([{1: 2}, 3], [{1: 2}, 3])),
        ("1 2\n", "3\n", ("1 2\n", "3\n")),
        (None, None, (None, None)),
    ],
)
def test_rows(inputs: Any, outputs: Any, expected: Any) -> None:
    assert process_input_output(inputs, outputs) == expected


def test_nothing_given_is_changed() -> None:
    inputs, outputs = [{"1": 2}], {"3": 4}
    process_input_output(inputs, outputs)
    assert (inputs, outputs) == ([{"1": 2}], {"3": 4})
