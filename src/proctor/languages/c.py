"""C, compiled by gcc."""

from proctor.languages.language import Harness, Language, PistonName
from proctor.languages.lexer import BLOCK, CHARACTER, LINE, STRING, Lexer
from proctor.records.task import TestProgram

GCC = ("/usr/include", "/usr/lib/gcc", "/usr/libexec/gcc", "/usr/local/include/boost")
"""What gcc and g++ need in sight; so do compilers that link by them."""
GCC_CRASHED = (4,)
INCLUDES = r"^[ \t]*#[ \t]*include\b.*$"

MAIN = r"\bint\s+main\s*\([^)]*\)\s*\{"
_NAMES = (
    *("main", "assert", "if", "else", "for", "while", "return", "static", "void", "const", "char"),
    *("int", "bool", "auto", "true", "false", "fflush", "dprintf", "_exit"),
)
"""What a candidate may have defined as macros, and tests need."""
ASSERT = "".join(f"#undef {name}\n" for name in _NAMES) + (
    "#include <stdio.h>\n#include <unistd.h>\n#undef assert\n"
    "static void proctor_@NO@(const char *what, int line) {\n"
    '    fflush(0); dprintf(1, "\\n@NO@ wrong line %d: %s\\n", line, what); _exit(3);\n}\n'
    "#define assert(...) ((__VA_ARGS__) ? (void)0 : proctor_@NO@(#__VA_ARGS__, __LINE__))\n"
    '#line @HERE@ "tests"\n'
)
"""An assertion that reports."""
REPORT = 'fflush(0); dprintf(1, "\\n@YES@\\n");'
CORPUS_MAIN = (
    "\nint main() {\n"
    "    assert(twice(1) == 2);\n    assert(twice(21) == 42);\n    assert(twice(-3) == -6);\n}\n"
)

LANGUAGE = Language(
    name="c",
    title="C",
    suffix=".c",
    compile=("{gcc}", "-std=gnu17", "-O2", "-pipe", "-o", "main", "main.c", "-lm"),
    products=("main",),
    run=("./main",),
    commands=("gcc",),
    shows=GCC,
    version=("{gcc}", "--version"),
    crashed=GCC_CRASHED,
    self_test="#include <stdio.h>\n"
    'int main(void) { int n; if (scanf("%d", &n) != 1) return 1; printf("%d\\n", 2 * n);'
    " return 0; }\n",
    install="apt install gcc libc6-dev",
    fences=("c", "h"),
    lexer=Lexer(
        hides=(LINE, BLOCK, STRING, CHARACTER),
        example="int f() { char c = '{'; /* { */ return 0; // {\n",
    ),
    imports=INCLUDES,
    main_function=r"^[ \t]*(?:int|void)\s+main\s*\([^)]*\)\s*",
    harness=Harness(heads=MAIN, before=ASSERT, closing=REPORT),
    corpus_tests=TestProgram(code="#include <assert.h>\n" + CORPUS_MAIN),
    piston=(PistonName(language="c", aliases=("gcc",), runtime="gcc"),),
)
