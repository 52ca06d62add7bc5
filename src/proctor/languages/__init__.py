"""Languages as data: how programs are compiled and run, what that needs, and a program to try.

A language is offered only where its self-test passes in the sandbox. What a compiler or runtime
needs of the host is shown in boxes of its own language and in no others; `toolchain.py` finds it.
"""

from collections.abc import Mapping, Sequence
from functools import cache

import msgspec

from proctor.errors import InputError
from proctor.plugins import Plugins, load_plugins

GROUP = "proctor.languages"
"""Entry points by which other packages bring a language: a name, and a Language."""


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """How one language is compiled and run.

    In a command line the name of a command in braces stands for where it lies, `{main}` for the
    name of the program and `{heap}` for the mebibytes that its heap may have.
    """

    name: str
    title: str
    """Its name as people write it."""
    suffix: str
    """Of its source file, which is called {main} otherwise."""
    tests_suffix: str = ""
    """Of a file with tests, if that is otherwise."""
    compile: Sequence[str] = ()
    """Empty: there is nothing to compile."""
    products: Sequence[str] = ()
    """Files that the compiler leaves, as patterns."""
    run: Sequence[str]
    compile_tests: Sequence[str] = ()
    """How a file with tests of the language's own kind is compiled, if that is otherwise."""
    run_tests: Sequence[str] = ()
    main: str = "main"
    named_by: Sequence[str] = ()
    """Patterns, the group of the first of which that is found says what to call a program."""
    commands: Sequence[str]
    around: Mapping[str, Sequence[str]] = {}
    """Commands that need what lies around them, seen from the folder above theirs."""
    shows: Sequence[str] = ()
    """What else of the host is shown, as patterns."""
    optional: Mapping[str, Sequence[str]] = {}
    """A file, and the words that its being there adds to the end of the compiler's."""
    version: Sequence[str]
    """A command line whose first line of output tells the version."""
    home: Sequence[str] = ()
    """A command line that prints the folder that holds bin with the real commands."""
    environment: Mapping[str, str] = {}
    address_space: bool = True
    """Whether its programs live with a limit on addresses; else its runtime has one of its own."""
    out_of_memory: Sequence[str] = ()
    """What its runtime says on standard error when memory runs out."""
    crashed: Sequence[int] = ()
    """Exit statuses by which its compiler says that it gave out, not that the program is wrong."""
    packages: Sequence[str] = ()
    """Python packages of ours that its programs may import, if they are in Python."""
    cache: str = ""
    """Where its compiler keeps what it compiled."""
    warm_ups: Sequence[str] = ()
    """Files with tests: the first one that compiles fills the cache for all programs to come."""
    self_test: str
    """A program that reads a number and prints its double."""
    probe: str = ""
    """A program that prints all that it can find out: its environment, and the content of all
    files of its folder, of /tmp and of its own process in /proc. Contracts look for tests in it."""
    install: str


GCC = ("/usr/include", "/usr/lib/gcc", "/usr/libexec/gcc", "/usr/local/include/boost")
GCC_CRASHED = (4,)
NODE_PARTS = tuple(  # where Debian keeps what others have built into the command
    f"/usr/share/nodejs/{name}"
    for name in ("acorn", "acorn-walk", "cjs-module-lexer", "minimatch", "undici", "balanced-match")
)
NODE_MODULES = ("/usr/lib/node_modules", "/usr/local/lib/node_modules")
NODE_PACKAGES = tuple(f"{place}/js-md5" for place in NODE_MODULES)
"""What tests of humaneval-x-js need; nothing else that is installed is in sight."""
NODE_MEMORY = ("JavaScript heap out of memory", "Array buffer allocation failed")
CRATES, CRATE_NAMES = "/usr/local/lib/rust-crates", ("rand", "regex", "md5")
"""Where libraries for programs in Rust are looked for, built by the very compiler that is here."""
GO_PACKAGES = tuple(
    f"/usr/share/gocode/src/{path}"
    for path in (
        *("github.com/stretchr", "github.com/davecgh", "github.com/pmezard"),
        "gopkg.in/yaml.v3",
    )
)
"""What tests of humaneval-x-go need."""
GO_CACHE = "/tmp/.gocache"  # noqa: S108  the guest's own
GO_IMPORTS = (
    *("bufio", "bytes", "container/heap", "container/list", "context", "crypto/md5"),
    *("crypto/sha256", "encoding/hex", "encoding/json", "errors", "fmt", "io", "math", "math/big"),
    *("math/bits", "math/cmplx", "math/rand", "os", "reflect", "regexp", "sort", "strconv"),
    *("strings", "sync", "sync/atomic", "time", "unicode", "unicode/utf8"),
)


def _go_warm_up(*more: str) -> str:
    """Return tests that import what programs import."""
    lines = "".join(f'import _ "{name}"\n' for name in (*GO_IMPORTS, *more))
    return f'package main\n\n{lines}import "testing"\n\nfunc TestNothing(t *testing.T) {{}}\n'


DOUBLE_C = """\
#include <stdio.h>
int main(void) { int n; if (scanf("%d", &n) != 1) return 1; printf("%d\\n", 2 * n); return 0; }
"""
DOUBLE_JS = """\
const text = require('fs').readFileSync(0, 'utf8');
console.log(2 * parseInt(text, 10));
"""
PROBE_BASH = """\
set
shopt -s dotglob globstar nullglob
for file in ./** /tmp/** /proc/self/environ /proc/self/cmdline /proc/[0-9]*/{environ,cmdline}; do
    [[ -f $file && -r $file ]] && { echo "== $file"; mapfile lines < "$file"; echo "${lines[@]}"; }
done 2> /dev/null
exit 0
"""
PROBE_JS = """\
const fs = require('fs'), path = require('path');
console.log(JSON.stringify(process.env), process.argv, process.execArgv);
const seen = new Set();
function look(place, depth) {
  if (seen.has(place) || depth > 4) return;
  seen.add(place);
  try {
    if (fs.statSync(place).isDirectory())
      for (const name of fs.readdirSync(place)) look(path.join(place, name), depth + 1);
    else console.log('== ' + place + '\\n' + fs.readFileSync(place, 'utf8').slice(0, 20000));
  } catch (error) {}
}
for (const place of ['.', '/tmp', '/proc/self/environ', '/proc/self/cmdline']) look(place, 0);
"""

TABLE = {
    language.name: language
    for language in (
        Language(
            name="python",
            title="Python",
            suffix=".py",
            run=("{python3}", "main.py"),
            commands=("python3",),
            version=("{python3}", "--version"),
            out_of_memory=("MemoryError",),
            self_test="print(2 * int(input()))\n",
            install="it is what Proctor itself runs on",
        ),
        Language(
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
            self_test="#include <iostream>\nint main() { int n; std::cin >> n; "
            'std::cout << 2 * n << "\\n"; }\n',
            install="apt install g++ (libboost-dev and libssl-dev for humaneval-x-cpp)",
        ),
        Language(
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
            self_test=DOUBLE_C,
            install="apt install gcc libc6-dev",
        ),
        Language(
            name="java",
            title="Java",
            suffix=".java",
            main="Main",
            named_by=(
                r"(?m)^\s*public\s+(?:final\s+|abstract\s+)*class\s+(\w+)",
                r"\bclass\s+(\w+)[^{;]*\{(?:(?!\bclass\s)[\s\S])*?\bstatic\s+void\s+main\b",
            ),
            compile=(
                *("{javac}", "-nowarn", "-encoding", "UTF-8", "-J-XX:TieredStopAtLevel=1"),
                *("-J-XX:+UseSerialGC", "-J-XX:-UsePerfData", "-J-Xmx1g", "{main}.java"),
            ),
            products=("*.class",),
            run=(
                *("{java}", "-ea", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto"),
                *("-Xss64m", "-Xmx{heap}m", "-cp", ".", "{main}"),
            ),
            commands=("javac", "java"),
            around={"javac": ["."], "java": ["."]},
            shows=("/etc/java-*",),
            version=("{javac}", "-version"),
            address_space=False,
            out_of_memory=("java.lang.OutOfMemoryError",),
            crashed=(3, 4),
            self_test="import java.util.Scanner;\npublic class Double {\n"
            "    public static void main(String[] args) {\n"
            "        System.out.println(2 * new Scanner(System.in).nextInt());\n    }\n}\n",
            install="apt install default-jdk-headless",
        ),
        Language(
            name="javascript",
            title="JavaScript",
            suffix=".js",
            compile=("{node}", "--check", "main.js"),
            run=("{node}", "--max-old-space-size={heap}", "--stack-size=3900", "main.js"),
            commands=("node",),
            shows=(*NODE_PARTS, *NODE_PACKAGES),
            environment={"NODE_PATH": ":".join(NODE_MODULES)},
            version=("{node}", "--version"),
            address_space=False,
            out_of_memory=NODE_MEMORY,
            self_test=DOUBLE_JS,
            probe=PROBE_JS,
            install="apt install nodejs (npm install --global js-md5@0.7.3 for humaneval-x-js)",
        ),
        Language(
            name="typescript",
            title="TypeScript",
            suffix=".ts",
            compile=(
                *("{node}", "{tsc}", "--target", "es2022", "--module", "commonjs"),
                *("--skipLibCheck", "--noEmitOnError", "main.ts"),
            ),
            products=("main.js",),
            run=("{node}", "--max-old-space-size={heap}", "--stack-size=3900", "main.js"),
            commands=("node", "tsc"),
            around={"tsc": [".", "../@typescript", "../@types"]},
            optional={
                "{tsc}/../../../@types/node": (
                    *("--types", "node", "--typeRoots", "{tsc}/../../../@types"),
                )
            },
            shows=NODE_PARTS,
            version=("{tsc}", "--version"),
            address_space=False,
            out_of_memory=NODE_MEMORY,
            self_test=f"declare var require: any;\n{DOUBLE_JS}",
            install="npm install --global typescript, and apt install nodejs",
        ),
        Language(
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
            shows=("/usr/share/go-*", "/usr/lib/go-*", *GO_PACKAGES, *GCC),
            version=("{go}", "version"),
            cache=GO_CACHE,
            warm_ups=(_go_warm_up("github.com/stretchr/testify/assert"), _go_warm_up()),
            environment={
                "GOCACHE": GO_CACHE,
                "GOPATH": "/tmp/.gopath:/usr/share/gocode",  # noqa: S108
                "GO111MODULE": "off",
                "GOTOOLCHAIN": "local",
                "GOFLAGS": "-p=2",
                "GOMEMLIMIT": "{heap}MiB",
            },
            address_space=False,
            out_of_memory=("fatal error: runtime: out of memory", "cannot allocate memory"),
            self_test='package main\n\nimport "fmt"\n\nfunc main() {\n\tvar n int\n'
            "\tfmt.Scan(&n)\n\tfmt.Println(2 * n)\n}\n",
            install="apt install golang-go (golang-github-stretchr-testify-dev for humaneval-x-go)",
        ),
        Language(
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
            crashed=(101,),
            self_test="use std::io;\nfn main() {\n    let mut line = String::new();\n"
            "    io::stdin().read_line(&mut line).unwrap();\n"
            '    println!("{}", 2 * line.trim().parse::<i64>().unwrap());\n}\n',
            install="rustup toolchain install stable, or apt install rustc; and apt install gcc",
        ),
        Language(
            name="bash",
            title="bash",
            suffix=".sh",
            compile=("{bash}", "-n", "main.sh"),
            run=("{bash}", "main.sh"),
            commands=("bash",),
            version=("{bash}", "--version"),
            self_test="read -r n\necho $((2 * n))\n",
            probe=PROBE_BASH,
            install="apt install bash",
        ),
    )
}

PARSER = "cpp-parser"
TOOLS = {
    PARSER: Language(
        name=PARSER,
        title="libclang",
        suffix=".py",
        run=("{python}", "main.py"),
        commands=("python",),
        shows=GCC,
        packages=("libclang",),
        version=("{python}", "--version"),
        environment={"PYTHONPATH": "/packages"},
        self_test="import clang.cindex\nclang.cindex.Index.create()\nprint(2 * int(input()))\n",
        install="pip install 'proctor[cpp]'",
    )
}
"""Programs of our own that read what is hostile: they live in boxes as candidates do."""


@cache
def plugin_languages() -> Plugins[Language]:
    """Return the languages of other packages; looking for them takes milliseconds."""
    return load_plugins(GROUP, Language, TABLE)


@cache
def all_languages() -> Mapping[str, Language]:
    """Return all languages that there are rules for, those of other packages included."""
    return {**TABLE, **plugin_languages().found}


def get_language(name: str) -> Language:
    """Return a language by its name."""
    if name in TOOLS:
        return TOOLS[name]
    languages = all_languages()
    if name not in languages:
        raise InputError(f"language {name[:40]!r}: {unknown_language(name)}")
    return languages[name]


def unknown_language(name: str) -> str:
    """Say why there is no such language: it is broken, or known are others."""
    return plugin_languages().broken.get(name) or f"known are {', '.join(all_languages())}"
