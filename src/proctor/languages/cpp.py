"""C++, compiled by g++. How tests and candidates are kept apart, `judge/cpp` says."""

from proctor.languages.c import ASSERT, CORPUS_MAIN, GCC, GCC_CRASHED, INCLUDES, MAIN, REPORT
from proctor.languages.language import (
    CONTESTS,
    Harness,
    Language,
    PistonName,
    SandboxFusionName,
)
from proctor.languages.lexer import BLOCK, CHARACTER, LINE, STRING, Lexer
from proctor.records.task import TestProgram

_RAW = (
    r'\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\((?:[^)]++|\)(?!(?P=mark)"))*+(?:\)(?P=mark)")?+'
)

LANGUAGE = Language(
    name="cpp",
    title="C++",
    suffix=".cpp",
    compile=("{g++}", "-std=c++17", "-O2", "-pipe", "-o", "main", "main.cpp"),
    # as the harnesses of benchmarks do: headers take longer than running
    compile_tests=("{g++}", "-std=c++17", "-O0", "-pipe", "-o", "main", "main.cpp"),
    products=("main",),
    run=("./main",),
    commands=("g++",),
    shows=GCC,
    optional={"/usr/include/openssl/md5.h": ("-Wl,--as-needed", "-lcrypto")},
    version=("{g++}", "--version"),
    out_of_memory=("std::bad_alloc",),
    crashed=GCC_CRASHED,
    precompiled_headers=True,
    self_test="#include <iostream>\nint main() { int n; std::cin >> n; "
    'std::cout << 2 * n << "\\n"; }\n',
    install="apt install g++ (libboost-dev and libssl-dev for humaneval-x-cpp)",
    fences=("cpp", "c++", "cc", "cxx", "hpp", "c"),
    lexer=Lexer(
        hides=(LINE, BLOCK, _RAW, STRING, CHARACTER),
        example='auto s = R"x({ " )x"; int f() { return \'}\';',
    ),
    imports=rf"{INCLUDES}|^[ \t]*using\s+namespace\s+[\w:]+\s*;[ \t]*$",
    main_function=r"^[ \t]*(?:int|auto|signed|void)\s+main\s*\([^)]*\)\s*(?:->\s*int\s*)?",
    harness=Harness(heads=MAIN, before=ASSERT, closing=REPORT, own_tests=MAIN),
    corpus_tests=TestProgram(code="#include <cassert>\n" + CORPUS_MAIN),
    piston=(
        PistonName(language="c++", aliases=("cpp", "g++"), runtime="gcc"),
        PistonName(
            language="c++17",
            aliases=("cf_c++17", "C++17 (GCC 7-32)", "C++17 (GCC 9-64)"),
            runtime=CONTESTS,
            contest=True,
        ),
    ),
    sandboxfusion=SandboxFusionName(name="cpp", compiles=True, tags=("c++",)),
)
