"""Braces that count, and those that are hidden."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.extraction import lexer


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("cpp", 'char c = \'{\'; auto s = "}{{\\"{"; // {{\n/* }}} */'),
        ("cpp", 'auto s = R"x({{{ )" }}} )x";'),
        ("cpp", "int n = 1'000'000;"),
        ("java", 'String s = """\n{{ "quoted" {\n""";'),
        ("javascript", "const s = `a ${f({})} {`; const r = /[{/]{2}/; x = a / b; y = '{'"),
        ("javascript", "const r = s.match(/\\{/g)"),
        (
            "rust",
            "fn f<'a>(x: &'a str) -> char; let c = '{'; let s = r#\"\"{\"#; /* { /* } */ { */",
        ),
        ("go", "s := `{\\`; c := '{'; t := \"}\""),
    ],
)
def test_what_hides_a_brace(language, text):
    assert list(lexer.braces(text, language)) == []


def test_the_end_of_a_body():
    body = "  if (x) { y(); }\n  return '}';\n}\nint other() { }\n"
    end = lexer.end_of(body, "cpp", depth=1)
    assert body[: end + 1].endswith("return '}';\n}")
    assert lexer.end_of("  return 1;", "cpp", depth=1) is None


def test_how_many_braces_are_left():
    assert lexer.depth_after("class A { void f() {", "java") == 2
    assert lexer.lowest("void g() {} }", "java") == 1
    assert lexer.lowest("void g() {}", "java") == 0


@given(
    st.text(alphabet="{}'\"`/*\\R(r#)\n x", max_size=60), st.sampled_from(sorted(lexer.LANGUAGES))
)
def test_any_text_is_scanned(text, language):
    found = list(lexer.braces(text, language))
    assert all(text[brace.at] in "{}" for brace in found)
    assert [brace.at for brace in found] == sorted({brace.at for brace in found})


@pytest.mark.parametrize("part", ["`${", "/*", "'", '"\\', 'R"(', 'r#"', "/[", "{", "`${{", "//\n"])
@pytest.mark.parametrize("language", sorted(lexer.LANGUAGES))
def test_long_texts_take_no_longer_than_they_are(language, part):
    assert abs(lexer.depth_after(part * 150_000, language)) <= 300_000  # else it takes hours
