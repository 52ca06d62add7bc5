"""Go, without modules.

An import that is not used is an error in Go, and so is one that stands twice. What publishers of Go
benchmarks concatenate has both, which is why their own harnesses write the imports anew, and
`arrange_imports` does so, too.
"""

import re

from proctor.languages.c import GCC
from proctor.languages.language import Harness, Language, PistonName, SandboxFusionName
from proctor.languages.lexer import BLOCK, CHARACTER, LINE, STRING, Lexer
from proctor.records.task import TestProgram

PACKAGES = tuple(
    f"/usr/share/gocode/src/{path}"
    for path in (
        *("github.com/stretchr", "github.com/davecgh", "github.com/pmezard"),
        "gopkg.in/yaml.v3",
    )
)
"""What tests of humaneval-x-go need."""
CACHE = "/tmp/.gocache"  # noqa: S108  the guest's own
WARM_IMPORTS = (
    *("bufio", "bytes", "container/heap", "container/list", "context", "crypto/md5"),
    *("crypto/sha256", "encoding/hex", "encoding/json", "errors", "fmt", "io", "math", "math/big"),
    *("math/bits", "math/cmplx", "math/rand", "os", "reflect", "regexp", "sort", "strconv"),
    *("strings", "sync", "sync/atomic", "time", "unicode", "unicode/utf8"),
)
IMPLIED_IMPORTS = (
    *("bufio", "bytes", "container/heap", "container/list", "crypto/md5", "encoding/hex"),
    *("encoding/json", "errors", "fmt", "math", "math/big", "math/bits", "math/cmplx"),
    *("math/rand", "os", "reflect", "regexp", "sort", "strconv", "strings", "testing", "time"),
    *("unicode", "unicode/utf8"),
)
"""Packages that are imported for a text that uses their names."""
LEXER = Lexer(
    hides=(LINE, BLOCK, r"`[^`]*+`?+", STRING, CHARACTER),
    example="func f() { s := `{{`; t := \"}\"; r := '{'",
)
_PACKAGE = re.compile(r"^package\s+\w+[ \t]*$", re.MULTILINE)
_IMPORT = re.compile(r'^import\s*(?:\(([^)]*)\)|((?:[\w.]+\s+)?"[^"\n]+"))', re.MULTILINE)
_SPEC = re.compile(r'(?:([\w.]+)[ \t]+)?"([^"\n]+)"')


def _warm_up(*more: str) -> str:
    """Return tests that import what programs import."""
    lines = "".join(f'import _ "{name}"\n' for name in (*WARM_IMPORTS, *more))
    return f'package main\n\n{lines}import "testing"\n\nfunc TestNothing(t *testing.T) {{}}\n'


def arrange_imports(setup: str, source: str, tests: str) -> str:
    """Return what stands in front of tests, with the imports that all of it uses."""
    front = f"{setup.rstrip()}\n{source}"
    package = _PACKAGE.search(front)
    specs = dict.fromkeys(_SPEC.findall("\n".join(a or b for a, b in _IMPORT.findall(front))))
    body = _IMPORT.sub("", _PACKAGE.sub("", front))
    named = {_name(spec) for spec in specs}
    specs |= {("", path): None for path in IMPLIED_IMPORTS if _name(("", path)) not in named}
    used = set(re.findall(r"\b(\w+)\.", LEXER.visible(f"{body}\n{tests}")))
    kept = [f'{alias} "{path}"' for alias, path in specs if _kept((alias, path), used)]
    head = package[0] if package else "package main"
    block = "\n".join(["import (", *kept, ")"]) if kept else ""
    return f"{head}\n{block}\n{body.rstrip()}\n"


def _name(spec: tuple[str, str]) -> str:
    alias, path = spec
    return alias or path.rpartition("/")[2]


def _kept(spec: tuple[str, str], used: set[str]) -> bool:
    return spec[0] in {"_", "."} or _name(spec) in used


LANGUAGE = Language(
    name="go",
    title="Go",
    suffix=".go",
    compile=("{go}", "build", "-o", "main", "main.go"),
    tests_suffix="_test.go",
    compile_tests=("{go}", "test", "-c", "-vet=off", "-o", "main", "main_test.go"),
    products=("main",),
    run=("./main",),
    commands=("go",),
    home=("{go}", "env", "GOROOT"),
    around={"go": ["."]},
    shows=("/usr/share/go-*", "/usr/lib/go-*", *PACKAGES, *GCC),
    version=("{go}", "version"),
    cache=CACHE,
    warm_ups=(_warm_up("github.com/stretchr/testify/assert"), _warm_up()),
    environment={
        "GOCACHE": CACHE,
        "GOPATH": "/tmp/.gopath:/usr/share/gocode",  # noqa: S108
        "GO111MODULE": "off",
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-p=2",
        "GOMEMLIMIT": "{heap}MiB",
    },
    address_space=False,
    out_of_memory=("fatal error: runtime: out of memory", "cannot allocate memory"),
    raised=2,
    self_test='package main\n\nimport "fmt"\n\nfunc main() {\n\tvar n int\n'
    "\tfmt.Scan(&n)\n\tfmt.Println(2 * n)\n}\n",
    install="apt install golang-go (golang-github-stretchr-testify-dev for humaneval-x-go)",
    fences=("go", "golang"),
    lexer=LEXER,
    brace_types=("interface{}", "struct{}"),
    main_function=r"^func\s+main\s*\(\s*\)\s*",
    harness=Harness(
        heads=r"^func\s+Test\w*\s*\(\s*t\s+\*testing\.T\s*\)\s*\{",
        # what a fatal failure leaves out is everything but what was deferred
        opening="ended := false; defer func() { if t.Failed() { println("
        '"\\n@NO@ wrong") } else if ended { println("\\n@YES@") } }();',
        closing="; ended = true;",
        own_tests=r"\*testing\.T",
        front=arrange_imports,
    ),
    corpus_tests=TestProgram(
        setup='package main\n\nimport (\n\t"testing"\n)\n',
        code="func TestTwice(t *testing.T) {\n\tfor _, x := range []int{1, 21, -3} {\n"
        '\t\tif twice(x) != x+x {\n\t\t\tt.Fatalf("twice(%d)", x)\n\t\t}\n\t}\n}\n',
    ),
    piston=(PistonName(language="go", aliases=("golang",)),),
    sandboxfusion=SandboxFusionName(name="go", tests="go_test", compiles=True, tags=("golang",)),
)
