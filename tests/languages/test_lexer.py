"""Braces that count, and those that are hidden."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.languages import builtin_languages, get_language

BRACED = [name for name, one in builtin_languages().items() if one.has_braces]


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
    assert list(get_language(language).lexer.braces(text)) == []


def test_the_end_of_a_body():
    body = "  if (x) { y(); }\n  return '}';\n}\nint other() { }\n"
    end = get_language("cpp").lexer.end_of(body, depth=1)
    assert body[: end + 1].endswith("return '}';\n}")
    assert get_language("cpp").lexer.end_of("  return 1;", depth=1) is None


def test_how_many_braces_are_left():
    assert get_language("java").lexer.depth_after("class A { void f() {") == 2
    assert get_language("java").lexer.lowest("void g() {} }") == 1
    assert get_language("java").lexer.lowest("void g() {}") == 0


@given(st.text(alphabet="{}'\"`/*\\R(r#)\n x", max_size=60), st.sampled_from(BRACED))
def test_any_text_is_scanned(text, language):
    found = list(get_language(language).lexer.braces(text))
    assert all(text[brace.at] in "{}" for brace in found)
    assert [brace.at for brace in found] == sorted({brace.at for brace in found})


@pytest.mark.parametrize("part", ["`${", "/*", "'", '"\\', 'R"(', 'r#"', "/[", "{", "`${{", "//\n"])
@pytest.mark.parametrize("language", BRACED)
def test_long_texts_take_no_longer_than_they_are(language, part):
    assert (
        abs(get_language(language).lexer.depth_after(part * 150_000)) <= 300_000
    )  # else it takes hours
