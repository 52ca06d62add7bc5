"""Languages as data: how programs are compiled and run, what that needs, and a program to try.

A language is offered only where its self-test passes in the sandbox. What a compiler or runtime
needs of the host is shown in boxes of its own language and in no others; what a command's name
leads to is found out here, links followed, so that nothing depends on links of the host.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

import msgspec

from proctor.errors import InputError, SandboxError, boundary
from proctor.sandbox import MIB, descriptors

GROUP = "proctor.languages"
"""Entry points by which other packages bring a language: a name, and a Language."""
HEAP = 0.75
"""How much of its memory a runtime may use for its heap; the rest is for the runtime itself."""


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """How one language is compiled and run.

    In a command line the name of a command in braces stands for where it lies, `{main}` for the
    name of the program and `{heap}` for the mebibytes that its heap may have.
    """

    name: str
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
    crashes: Sequence[str] = ()
    """What its compiler says when it fails by a fault of its own."""
    self_test: str
    """A program that reads a number and prints its double."""
    install: str


GCC = ("/usr/include", "/usr/lib/gcc", "/usr/libexec/gcc", "/usr/local/include/boost")
GCC_CRASHES = ("internal compiler error", "cannot execute")
NODE_PARTS = tuple(  # where Debian keeps what others have built into the command
    f"/usr/share/nodejs/{name}"
    for name in ("acorn", "acorn-walk", "cjs-module-lexer", "minimatch", "undici", "balanced-match")
)
NODE_MODULES = ("/usr/lib/node_modules", "/usr/local/lib/node_modules")
NODE_PACKAGES = tuple(f"{place}/js-md5" for place in NODE_MODULES)
"""What tests of humaneval-x-js need; nothing else that is installed is in sight."""
NODE_MEMORY = ("JavaScript heap out of memory", "Array buffer allocation failed")
DOUBLE_C = """\
#include <stdio.h>
int main(void) { int n; if (scanf("%d", &n) != 1) return 1; printf("%d\\n", 2 * n); return 0; }
"""
DOUBLE_JS = """\
const text = require('fs').readFileSync(0, 'utf8');
console.log(2 * parseInt(text, 10));
"""

TABLE = {
    language.name: language
    for language in (
        Language(
            name="python",
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
            suffix=".cpp",
            compile=("{g++}", "-std=c++17", "-O2", "-pipe", "-o", "main", "main.cpp"),
            products=("main",),
            run=("./main",),
            commands=("g++",),
            shows=GCC,
            optional={"/usr/include/openssl/md5.h": ("-Wl,--as-needed", "-lcrypto")},
            version=("{g++}", "--version"),
            out_of_memory=("std::bad_alloc",),
            crashes=GCC_CRASHES,
            self_test="#include <iostream>\nint main() { int n; std::cin >> n; "
            'std::cout << 2 * n << "\\n"; }\n',
            install="apt install g++ (libboost-dev and libssl-dev for humaneval-x-cpp)",
        ),
        Language(
            name="c",
            suffix=".c",
            compile=("{gcc}", "-std=gnu17", "-O2", "-pipe", "-o", "main", "main.c", "-lm"),
            products=("main",),
            run=("./main",),
            commands=("gcc",),
            shows=GCC,
            version=("{gcc}", "--version"),
            crashes=GCC_CRASHES,
            self_test=DOUBLE_C,
            install="apt install gcc libc6-dev",
        ),
        Language(
            name="java",
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
            crashes=("An exception has occurred in the compiler",),
            self_test="import java.util.Scanner;\npublic class Double {\n"
            "    public static void main(String[] args) {\n"
            "        System.out.println(2 * new Scanner(System.in).nextInt());\n    }\n}\n",
            install="apt install default-jdk-headless",
        ),
        Language(
            name="javascript",
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
            install="apt install nodejs (npm install --global js-md5@0.7.3 for humaneval-x-js)",
        ),
        Language(
            name="typescript",
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
            suffix=".go",
            compile=("{go}", "build", "-o", "main", "main.go"),
            tests_suffix="_test.go",
            compile_tests=("{go}", "test", "-c", "-vet=off", "-o", "main", "main_test.go"),
            products=("main",),
            run=("./main",),
            commands=("go",),
            home=("{go}", "env", "GOROOT"),
            around={"go": ["."]},
            shows=("/usr/share/go-*", "/usr/lib/go-*"),
            version=("{go}", "version"),
            environment={
                "GOCACHE": "/tmp/.gocache",  # noqa: S108  the guest's own
                "GOPATH": "/tmp/.gopath",  # noqa: S108
                "GO111MODULE": "off",
                "GOTOOLCHAIN": "local",
                "GOFLAGS": "-p=2",
                "CGO_ENABLED": "0",
                "GOMEMLIMIT": "{heap}MiB",
            },
            address_space=False,
            out_of_memory=("fatal error: runtime: out of memory", "cannot allocate memory"),
            crashes=("internal compiler error",),
            self_test='package main\n\nimport "fmt"\n\nfunc main() {\n\tvar n int\n'
            "\tfmt.Scan(&n)\n\tfmt.Println(2 * n)\n}\n",
            install="apt install golang-go",
        ),
        Language(
            name="rust",
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
            shows=GCC,
            version=("{rustc}", "--version"),
            out_of_memory=("memory allocation of",),
            crashes=("the compiler unexpectedly panicked",),
            self_test="use std::io;\nfn main() {\n    let mut line = String::new();\n"
            "    io::stdin().read_line(&mut line).unwrap();\n"
            '    println!("{}", 2 * line.trim().parse::<i64>().unwrap());\n}\n',
            install="rustup toolchain install stable, or apt install rustc; and apt install gcc",
        ),
        Language(
            name="bash",
            suffix=".sh",
            compile=("{bash}", "-n", "main.sh"),
            run=("{bash}", "main.sh"),
            commands=("bash",),
            version=("{bash}", "--version"),
            self_test="read -r n\necho $((2 * n))\n",
            install="apt install bash",
        ),
    )
}


class Toolchain(msgspec.Struct, frozen=True, kw_only=True):
    """A language as it is installed on this host."""

    language: Language
    version: str
    commands: Mapping[str, str]
    """Name → where it lies."""
    shown: Sequence[str]
    """What of the host has to be in sight."""

    def name_for(self, source: str) -> str:
        """Return what a program has to be called."""
        for pattern in self.language.named_by:
            found = re.search(pattern, source)
            if found is not None:
                return found[1]
        return self.language.main

    def argv(self, words: Sequence[str], main: str, memory_bytes: int) -> list[str]:
        """Return a command line of the language as it is run here."""
        return [self._filled(word, main, memory_bytes) for word in words]

    def environment(self, memory_bytes: int) -> dict[str, str]:
        """Return what its programs find in their environment."""
        own = self.language.environment
        return {name: self._filled(value, "", memory_bytes) for name, value in own.items()}

    def compiler(self, *, tests: bool) -> Sequence[str]:
        """Return the words that compile a program; none if there is nothing to compile."""
        words = (tests and self.language.compile_tests) or self.language.compile
        optional = self.language.optional.items()
        extra = [word for file, more in optional if self._has(file) for word in more]
        return [*words, *extra] if words else []

    def runner(self, *, tests: bool) -> Sequence[str]:
        """Return the words that run a program."""
        return (tests and self.language.run_tests) or self.language.run

    def _has(self, file: str) -> bool:
        return Path(os.path.normpath(self._filled(file, "", 0))).exists()

    def _filled(self, word: str, main: str, memory_bytes: int) -> str:
        heap = int(HEAP * memory_bytes) // MIB
        return fill(word, {**self.commands, "main": main, "heap": str(heap)})


def fill(word: str, values: Mapping[str, str]) -> str:
    """Put values where a word has their names in braces."""
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word


def known() -> dict[str, Language]:
    """Return all languages that there are rules for, those of other packages included."""
    others = {point.name: point for point in metadata.entry_points(group=GROUP)}
    return {**TABLE, **{name: point.load() for name, point in others.items()}}


def named(name: str) -> Language:
    """Return a language by its name."""
    languages = known()
    if name not in languages:
        raise InputError(f"language {name[:40]!r}: known are {', '.join(languages)}")
    return languages[name]


@cache
def find(name: str) -> Toolchain:
    """Find what a language needs on this host; a SandboxError says how to install it."""
    language = named(name)
    commands = {}
    for command in language.commands:
        path = shutil.which(command)
        if path is None:
            raise SandboxError(f"{name}: there is no {command} here; {language.install}")
        commands[command] = path
    if language.home:
        folder = Path(_said(language, language.home, commands)) / "bin"
        commands |= {c: str(folder / c) for c in commands if (folder / c).is_file()}
    commands = {command: str(Path(path).resolve()) for command, path in commands.items()}
    return Toolchain(
        language=language,
        version=_version(language, commands),
        commands=commands,
        shown=sorted({str(Path(path).resolve()) for path in _shown(language, commands)}),
    )


def _shown(language: Language, commands: Mapping[str, str]) -> Iterator[str]:
    """Yield what of the host has to be in sight for some commands to work."""
    for name, path in commands.items():
        above = Path(path).parents[1]
        beside = [above / place for place in language.around.get(name, ())]
        yield from (str(place) for place in beside if place.exists())
        if not beside:
            yield path
    for pattern in language.shows:
        yield from map(str, Path("/").glob(pattern.removeprefix("/")))


def _version(language: Language, commands: Mapping[str, str]) -> str:
    """Return what tells the version, and of what."""
    said = _said(language, language.version, commands)
    command = language.version[0].strip("{}")
    return said if command in said else f"{command} {said}"


def _said(language: Language, words: Sequence[str], commands: Mapping[str, str]) -> str:
    """Return the first line that a command prints."""
    argv = [fill(word, commands) for word in words]
    refusal = f"{language.name}: {' '.join(argv)} does not work here"
    try:
        with boundary(SandboxError, refusal), descriptors.no_forks():
            answer = subprocess.run(argv, capture_output=True, check=True, timeout=60)
    except subprocess.SubprocessError as error:
        raise SandboxError(f"{refusal}: {error}") from None
    lines = (answer.stdout or answer.stderr).decode("utf-8", "replace").strip().splitlines()
    if not lines:
        raise SandboxError(f"{refusal}: it says nothing")
    return lines[0]
