"""Selectors of versions: the ranges that people write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.server.compat.piston.versions import parsed, satisfies, version_in

numbers = st.integers(0, 30)
versions = st.tuples(numbers, numbers, numbers)


@pytest.mark.parametrize(
    ("selector", "taken", "left"),
    [
        ("*", ["0.0.0", "3.12.1"], []),
        ("", ["3.12.1"], []),
        ("x", ["3.12.1"], []),
        ("3.12.1", ["3.12.1"], ["3.12.2", "3.1.2"]),
        ("=3.12.1", ["3.12.1"], ["3.12.2"]),
        ("v3.12.1", ["3.12.1"], ["3.12.0"]),
        ("3", ["3.0.0", "3.99.1"], ["2.9.9", "4.0.0"]),
        ("3.x", ["3.0.0", "3.99.1"], ["4.0.0"]),
        ("3.12.*", ["3.12.7"], ["3.13.0"]),
        ("^3.10", ["3.10.0", "3.12.1"], ["3.9.9", "4.0.0"]),
        ("^0.2.3", ["0.2.3", "0.2.9"], ["0.3.0", "0.2.2"]),
        ("^0.0.3", ["0.0.3"], ["0.0.4"]),
        ("^0", ["0.9.0"], ["1.0.0"]),
        ("~3.12.1", ["3.12.1", "3.12.9"], ["3.12.0", "3.13.0"]),
        ("~3", ["3.13.0"], ["4.0.0"]),
        (">=3.10 <4", ["3.10.0", "3.99.0"], ["4.0.0", "3.9.0"]),
        (">= 3.10", ["3.10.0"], ["3.9.0"]),
        (">3.10", ["3.11.0"], ["3.10.5"]),
        ("<=3.10", ["3.10.5"], ["3.11.0"]),
        ("3.10 - 3.12", ["3.10.0", "3.12.9"], ["3.13.0", "3.9.9"]),
        ("3.9 || 3.12", ["3.9.1", "3.12.1"], ["3.10.0"]),
        ("latest", [], ["3.12.1"]),
        ("3.12.1-beta", [], ["3.12.1"]),
        ("3.12.1.1", [], ["3.12.1"]),
        ("1" * 300, [], ["3.12.1"]),
    ],
)
def test_a_selector_takes_what_it_says(selector, taken, left):
    assert [version for version in (*taken, *left) if satisfies(parsed(version), selector)] == taken


@given(versions, versions)
def test_ranges_agree_with_order(version, other):
    text = ".".join(map(str, other))
    assert satisfies(version, f">={text}") == (version >= other)
    assert satisfies(version, f"<{text}") == (version < other)
    assert satisfies(version, text) == (version == other)
    caret = satisfies(version, f"^{text}")
    assert not caret or version >= other
    for selector in (f"^{text} ~{text}", f"{text} - {text}", f"9 || {text}"):
        assert satisfies(other, selector)


@given(versions, st.text(max_size=40))
def test_whatever_is_written_is_answered(version, selector):
    assert satisfies(version, selector) in {True, False}


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("python 3.12.3", "3.12.3"),
        ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0", "12.2.0"),
        ("go version go1.19 linux/amd64", "1.19.0"),
        ("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)", "5.2.15"),
        ("javac 17.0.12.1", "17.0.12"),
        ("something", "0.0.0"),
    ],
)
def test_what_commands_say_of_themselves(said, version):
    assert version_in(said) == version
