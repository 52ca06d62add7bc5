"""A candidate in its hole: nothing is lost, and every place leads back to its own text."""

from hypothesis import given
from hypothesis import strategies as st

from proctor.records.translation_unit import HOLE, fill_hole

UNIT = b'#include "a.h"\nnamespace m {\n' + HOLE + b"\n}\n"
LINES = st.lists(
    st.sampled_from(
        [
            "#include <map>",
            "# include  <x>  // why",
            "int f();",
            "",
            "  ",
            "// words",
            "auto ü = 1;",
        ]
    ),
    max_size=8,
).map("\n".join)


@given(LINES)
def test_every_place_of_the_candidate_leads_back(text):
    code = text.encode()
    spliced = fill_hole(UNIT, code)
    assert spliced.text[: spliced.front] + spliced.text[spliced.start : spliced.end] == spliced.code
    assert spliced.code in (code, code + b"\n")
    lines = spliced.code.decode().split("\n")
    for offset in range(len(spliced.text)):
        if spliced.holds(offset) and spliced.text[offset] & 0xC0 != 0x80:
            line, column = spliced.place(offset)
            letter = spliced.text[offset:].decode("utf-8")[0]
            assert (lines[line - 1] + "\n")[column - 1] == letter


def test_includes_go_in_front_and_only_those_at_the_beginning():
    spliced = fill_hole(UNIT, b"#include <map>\n\nint f();\n#include <set>\n")
    assert spliced.text.startswith(b'#include <map>\n\n#include "a.h"\n')
    assert b"namespace m {\nint f();\n#include <set>\n" in spliced.text


def test_a_unit_without_includes_of_the_candidate_begins_as_it_did():
    assert fill_hole(UNIT, b"// words\nint f();\n").text.startswith(b'#include "a.h"\nnamespace')
