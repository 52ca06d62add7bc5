"""Rust."""

from proctor.languages.c import GCC
from proctor.languages.language import Harness, Language, PistonName, SandboxFusionName
from proctor.languages.lexer import BLOCK, CHARACTER, LINE, STRING, Lexer
from proctor.records.task import TestProgram

CRATES, CRATE_NAMES = "/usr/local/lib/rust-crates", ("rand", "regex", "md5")
"""Where libraries are looked for, built by the very compiler that is here."""
_NESTED = rf"/\*(?:[^*/]++|\*(?!/)|/(?!\*)|{BLOCK})*+(?:\*/)?+"
_RAW = r'\bb?r(?P<hashes>#*+)"(?:[^"]++|"(?!(?P=hashes)))*+(?:"(?P=hashes))?+'

LANGUAGE = Language(
    name="rust",
    title="Rust",
    suffix=".rs",
    compile=(
        *("{rustc}", "--edition=2021", "-O", "-Awarnings", "-Clinker={cc}"),
        *("-o", "main", "main.rs"),
    ),
    products=("main",),
    run=("./main",),
    compile_tests=(
        *("{rustc}", "--edition=2021", "--test", "-Awarnings", "-Clinker={cc}"),
        *("-o", "main", "main.rs"),
    ),
    run_tests=("./main", "--nocapture", "--test-threads=1"),
    commands=("rustc", "cc"),
    home=("{rustc}", "--print", "sysroot"),
    around={"rustc": ["."]},
    shows=(*GCC, CRATES),
    optional={CRATES: ("-L", CRATES, *(f"--extern={name}" for name in CRATE_NAMES))},
    version=("{rustc}", "--version"),
    out_of_memory=("memory allocation of",),
    raised=101,
    crashed=(101,),
    self_test="use std::io;\nfn main() {\n    let mut line = String::new();\n"
    "    io::stdin().read_line(&mut line).unwrap();\n"
    '    println!("{}", 2 * line.trim().parse::<i64>().unwrap());\n}\n',
    install="rustup toolchain install stable, or apt install rustc; and apt install gcc",
    fences=("rust", "rs"),
    lexer=Lexer(
        hides=(LINE, _NESTED, _RAW, STRING, CHARACTER),
        example='fn f() { let s = r#"{"{"#; /* { /* { */ */ let c = \'{\';',
    ),
    imports=r"^[ \t]*use\s+[^;{}]*(?:\{[^;]*\})?[^;{}]*;[ \t]*$",
    main_function=r"^(?:pub\s+)?fn\s+main\s*\(\s*\)\s*(?:->[^{]*)?",
    harness=Harness(
        heads=r"(?:#\[test\](?:\s|//[^\n]*|#\[[^\]]*\])*(?:pub\s+)?fn\s+\w+|\bfn\s+main)"
        r"\s*\(\s*\)\s*\{",
        opening="::std::panic::set_hook(::std::boxed::Box::new(|info| {"
        " let line = info.location().map_or(0, |place| place.line());"
        ' let kind = if line >= @LINE@ { "wrong" } else { "raised" };'
        ' ::std::println!("\\n@NO@ {} {}", kind, info); }));',
        closing='::std::println!("\\n@YES@");',
        own_tests=r"#\[test\]",
        forbidden=r"macro_rules!\s*(?:assert\w*|debug_assert\w*|println|panic|matches)\b",
    ),
    corpus_tests=TestProgram(
        code="#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn doubles() {\n"
        "        for x in [1, 21, -3] {\n            assert_eq!(twice(x), x + x);\n"
        "        }\n    }\n}\n"
    ),
    piston=(PistonName(language="rust", aliases=("rs",)),),
    sandboxfusion=SandboxFusionName(name="rust", compiles=True, tags=("rs",)),
)
