"""Test code with a `main` of its own, made to tell how it went.

A test function says so itself, by a word that is chosen when the candidate's text is fixed: one
word at its end, another one if an assertion fails. So leaving early, catching signals or replacing
what an assertion calls makes no pass. Code that reads its own memory, or that makes the language's
own operators lie, is not stopped by this: it shares a process with the tests, and receipts say so.
"""

import re
from collections.abc import Iterator

import msgspec

from proctor.extraction import lexer


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """What the tests of one sample say, and nobody else knows."""

    yes: str
    no: str


class Harness(msgspec.Struct, frozen=True, kw_only=True):
    """What is put around the test functions of a language.

    @YES@, @NO@ and @LINE@ stand for the words and for the line at which the tests begin.
    """

    heads: str = ""
    """A pattern of where test functions begin, up to their brace; empty: all of the code is one."""
    before: str = ""
    """In front of the first test function."""
    opening: str = ""
    closing: str
    own_tests: str = ""
    """A pattern: such code is built as the language builds files with tests."""
    forbidden: str = ""
    """A pattern of what a candidate could only want in order to deceive the tests."""
    raised: int | None = None
    """The exit status of a program that ended by an exception."""


_CPP_NAMES = (
    *("main", "assert", "if", "else", "for", "while", "return", "static", "void", "const", "char"),
    *("int", "bool", "auto", "true", "false", "fflush", "dprintf", "_exit"),
)
_C_FAMILY = "".join(f"#undef {name}\n" for name in _CPP_NAMES) + (
    "#include <stdio.h>\n#include <unistd.h>\n#undef assert\n"
    "static void proctor_@NO@(const char *what, int line) {\n"
    '    fflush(0); dprintf(1, "\\n@NO@ wrong line %d: %s\\n", line, what); _exit(3);\n}\n'
    "#define assert(...) ((__VA_ARGS__) ? (void)0 : proctor_@NO@(#__VA_ARGS__, __LINE__))\n"
)
_HOOK = (
    ';{any}process.on("uncaughtException", (error{type}) => {{\n'
    "    const kind = error && error.code === 'ERR_ASSERTION' ? 'wrong' : 'raised';\n"
    "    {any}process.stdout.write(`\\n@NO@ ${{kind}} ${{error}}\\n`);\n"
    "    {any}process.exit(1);\n}});\n"
)
_JS = _HOOK.format(any="", type="") + (
    "{ const console = Object.create(globalThis.console, { assert: { value(held, ...said) {\n"
    "        const error = new Error(`console.assert ${said.join(' ')}`);\n"
    "        error.code = 'ERR_ASSERTION';\n"
    "        if (!held) throw error;\n    } } });\n"
)
_MAIN = r"\bint\s+main\s*\([^)]*\)\s*\{"

HARNESSES = {
    "c": Harness(heads=_MAIN, before=_C_FAMILY, closing='fflush(0); dprintf(1, "\\n@YES@\\n");'),
    "cpp": Harness(
        heads=_MAIN,
        before=_C_FAMILY,
        closing='fflush(0); dprintf(1, "\\n@YES@\\n");',
        own_tests=_MAIN,
    ),
    "java": Harness(
        heads=r"\bpublic\s+static\s+void\s+main\s*\([^)]*\)\s*(?:throws\s+[\w.,\s]+?)?\s*\{",
        opening="try {",
        closing='java.lang.System.out.println("\\n@YES@"); } catch (java.lang.AssertionError _no) {'
        ' java.lang.System.out.println("\\n@NO@ wrong " + _no);'
        " java.lang.Runtime.getRuntime().exit(3); }",
        raised=1,
    ),
    "javascript": Harness(
        before=_JS, closing='\nprocess.stdout.write("\\n@YES@\\n"); }\n', raised=1
    ),
    "typescript": Harness(
        before=_HOOK.format(any="(globalThis as any).", type=": any"),
        closing='\n;(globalThis as any).process.stdout.write("\\n@YES@\\n");\n',
        raised=1,
    ),
    "go": Harness(
        heads=r"^func\s+Test\w*\s*\(\s*t\s+\*testing\.T\s*\)\s*\{",
        # what a fatal failure leaves out is everything but what was deferred
        opening="ended := false; defer func() { if t.Failed() { println("
        '"\\n@NO@ wrong") } else if ended { println("\\n@YES@") } }();',
        closing="; ended = true;",
        own_tests=r"\*testing\.T",
        raised=2,
    ),
    "rust": Harness(
        heads=r"(?:#\[test\](?:\s|//[^\n]*|#\[[^\]]*\])*(?:pub\s+)?fn\s+\w+|\bfn\s+main)"
        r"\s*\(\s*\)\s*\{",
        opening="::std::panic::set_hook(::std::boxed::Box::new(|info| {"
        " let line = info.location().map_or(0, |place| place.line());"
        ' let kind = if line >= @LINE@ { "wrong" } else { "raised" };'
        ' ::std::println!("\\n@NO@ {} {}", kind, info); }));',
        closing='::std::println!("\\n@YES@");',
        own_tests=r"#\[test\]",
        forbidden=r"macro_rules!\s*(?:assert\w*|debug_assert\w*|println|panic|matches)\b",
        raised=101,
    ),
}
_LAST_RETURN = re.compile(r"\breturn\b[^;{}]*;\s*\Z")


class Woven(msgspec.Struct, frozen=True, kw_only=True):
    """Test code that tells how it went."""

    code: str
    functions: int
    """How many have to say that they came to their end."""


def instrument(
    code: str, frame: Harness, words: Tokens, line: int, *, language: str = "cpp"
) -> Woven | None:
    """Make test code tell how it went; None if there is no test function in it."""

    def said(text: str) -> str:
        text = text.replace("@YES@", words.yes).replace("@NO@", words.no)
        return text.replace("@LINE@", str(line))

    if not frame.heads:
        return Woven(code=said(frame.before) + code + said(frame.closing), functions=1)
    parts: list[str] = []
    at = functions = 0
    for head in re.finditer(frame.heads, code, re.MULTILINE):
        end = lexer.end_of(code, language, start=head.end() - 1)
        if head.start() < at or end is None:
            continue
        if not functions and frame.before:
            where = code.count("\n", 0, head.start()) + 1
            parts += [code[at : head.start()], said(frame.before), f'#line {where} "tests"\n']
            at = head.start()
        last = _LAST_RETURN.search(code, head.end(), end)
        close = last.start() if last else end
        parts += [code[at : head.end()], said(frame.opening), code[head.end() : close]]
        parts.append(said(frame.closing))
        at, functions = close, functions + 1
    return Woven(code="".join([*parts, code[at:]]), functions=functions) if functions else None


def parse_report(stdout: str, words: Tokens) -> Iterator[str]:
    """Yield what was said with the word for no."""
    for line in stdout.splitlines():
        if line.startswith(words.no):
            yield line.removeprefix(words.no).strip()
