"""Imports of Go: each once, and only those that are used."""

from proctor.languages.go import arrange_imports

SETUP = 'package main\n\nimport (\n    "testing"\n    "math"\n    "example.org/assert"\n)\n'
TESTS = "func TestF(t *testing.T) { assert.New(t); /* sort.Ints */ }"


def imports(front):
    return [line.strip() for line in front.split(")")[0].splitlines() if '"' in line]


def test_what_is_used_is_imported_once():
    source = 'import (\n    "math"\n    "strings"\n)\n\nfunc F() float64 { return math.Abs(1) }\n'
    front = arrange_imports(SETUP, source, TESTS)
    assert imports(front) == ['"testing"', '"math"', '"example.org/assert"']
    assert front.count("import") == front.count("package") == 1
    assert front.endswith("func F() float64 { return math.Abs(1) }\n")


def test_what_is_missing_is_added_and_comments_use_nothing():
    source = '// strings.ToUpper\nfunc F() string { return strconv.Itoa(1) + "fmt.Print" }\n'
    assert imports(arrange_imports(SETUP, source, TESTS)) == [
        '"testing"',
        '"example.org/assert"',
        '"strconv"',
    ]


def test_other_names_and_a_package_of_ones_own():
    source = 'package solution\n\nimport m "math"\nimport _ "embed"\n\nfunc F() float64 { return m.Pi }\n'
    front = arrange_imports('package main\nimport "testing"\n', source, TESTS)
    assert set(imports(front)) == {'"testing"', 'm "math"', '_ "embed"'}
    assert "package solution" not in front
