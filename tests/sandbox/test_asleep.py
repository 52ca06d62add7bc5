"""Compilers that have read headers and sleep: woken, they do what others do, or leave it to them."""

import itertools
import os
import platform
import struct

import pytest

from proctor import gcc
from proctor.build import Built, Recipe, Refused, unpack
from proctor.errors import SandboxError
from proctor.sandbox import Exited, headers
from proctor.sandbox.headers import Headers, Wanted, is_asleep
from proctor.sandbox.sealed import sealed

PIECES = range(4312, 68_312, 64)
"""Where in a program the parts are told that it is put together from."""
NUMBERS = itertools.count()
NAMES = ("cstdio", "string", "vector")
TEXTS = {
    "nothing": "",
    "plain": "int f(int x) { return x * 2; }",
    "containers": "std::vector<std::string> f(std::string s) { return {s, std::to_string(1)}; }",
    "state": "static std::vector<int> kept(3, 1); int f() { kept.push_back(2); return kept[0]; }",
    "hidden": 'namespace { struct S { ~S() { puts(""); } } s; } int f() { return sizeof s; }',
    "throws": "int f(int x) { try { if (x) throw x; } catch (int y) { return y; } return 0; }",
    "closure": "int f(int x) { auto g = [&](int y) { return x + y; }; return g(1); }",
    "more headers": "#include <map>\n#include <algorithm>\nstd::map<int, int> f() { return {}; }",
    "floats": "double f(double x) { return x * 1e300 + 0.1L + (x < 0 ? -0.0 : 1e-320); }",
    "names": "const char *f() { return __FILE__; } int line() { return __LINE__; }",
    "much": "".join(f"int f{n}(std::vector<int> v) {{ return v[{n}]; }}\n" for n in range(300)),
}
REFUSED = {
    "lacking": "std::map<int, int> m;",
    "wrong": "int f() {\n    return nothing;\n}\nint g() { return std::vector<int>(); }",
    "unfinished": "int f() {",
    "not there": '#include "proctor_compiler"\n',
    "in another": '#line 7 "other"\nint f() { return nothing; }',
    "ended": "#error that is enough\n",
}


@pytest.fixture(scope="module")
def foreign(kernel):
    if platform.machine() != "x86_64":
        pytest.skip("compilers sleep on x86_64 alone")
    try:
        return kernel.native("cpp")
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def compilers(foreign):
    """Return headers, and a compiler that has read them."""
    toolchain = foreign.offer("cpp")
    wanted = Wanted(NAMES, gcc.shared(toolchain))
    files = [
        Headers(foreign._compile)._make(toolchain, wanted._replace(asleep=asleep), known=False)
        for asleep in (False, True)
    ]
    assert is_asleep(files[1])
    yield files
    for file in files:
        os.close(file)


def text(source):
    return "".join(f"#include <{name}>\n" for name in NAMES) + source


def compiled(foreign, source, file):
    """Return what becomes of a text, and the assembler's."""
    toolchain = foreign.offer("cpp")
    [first, *_] = gcc.parts(toolchain).steps
    recipe = Recipe(files={"part.cpp": text(source).encode()}, steps=[first], products=("part.s",))
    done = foreign._compile(toolchain, recipe, file)
    made = unpack(done.stdout)["part.s"] if done.stdout else b""
    lines = made.replace(
        b"_I_proctor_main.cpp", b"_I_part.cpp"
    ).splitlines()  # a name that nobody sees
    return done, [line for line in lines if not line.startswith(b"\t.file")]


@pytest.mark.parametrize("source", TEXTS.values(), ids=TEXTS)
def test_the_code_is_the_same_to_the_last_instruction(foreign, compilers, source):
    (read, ordinary), (woken, same) = (compiled(foreign, source, file) for file in compilers)
    assert read.ending == woken.ending == Exited(0)
    assert same == ordinary
    assert same


@pytest.mark.parametrize("source", TEXTS.values(), ids=TEXTS)
def test_what_is_assembled_and_linked_is_the_same_to_the_last_byte(foreign, compilers, source):
    toolchain, exports = foreign.offer("cpp"), b"VERSION { { local: *; }; }\n"
    first, *others = gcc.parts(toolchain).steps
    made = {"part.cpp": text(source).encode(), "exports.map": exports}
    products = ("part.s", "part.o", "part.so")
    recipe = Recipe(files=made, steps=[first, *others], products=products)
    woken = unpack(foreign._compile(toolchain, recipe, compilers[1]).stdout)
    given = {"part.s": woken["part.s"], "exports.map": exports}
    recipe = Recipe(files=given, steps=others, products=products)
    assert unpack(foreign._compile(toolchain, recipe, None).stdout) == woken


@pytest.mark.parametrize("source", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_refused_with_the_same_words(foreign, compilers, source):
    (read, _), (woken, _) = (compiled(foreign, source, file) for file in compilers)
    assert read.ending == woken.ending == Exited(1)
    assert gcc.by_itself(woken.stderr) == read.stderr


def test_it_does_not_wake_among_other_files_than_it_fell_asleep(foreign, compilers):
    """A library that was installed anew is not the one whose addresses it knows."""
    image = bytearray(os.pread(compilers[1], os.fstat(compilers[1]).st_size, 0))
    changed = next(at for at in PIECES if struct.unpack_from("8Q", image, at)[5])
    struct.pack_into("Q", image, changed + 6 * 8, 1)  # when the file was written last
    file = sealed(image)
    assert compiled(foreign, "", file)[0].ending == Exited(99)
    os.close(file)


def test_to_wake_takes_less_than_to_read(foreign, compilers):
    read, woken = (
        min(compiled(foreign, "", file)[0].usage.cpu_seconds for _ in range(5))
        for file in compilers
    )
    assert woken < read


@pytest.fixture
def making(foreign, monkeypatch):
    """Make parts with a compiler that sleeps; return what came of them, and how often."""
    toolchain = foreign.offer("cpp")
    monkeypatch.setattr(foreign, "_headers", Headers(foreign._compile))
    tries = []
    original = type(foreign)._compile

    def compile_(self, toolchain, recipe, file, *more):
        tries.append(file)
        return original(self, toolchain, recipe, file, *more)

    def make(source):
        tries.clear()
        recipe = Recipe(
            files={
                "part.cpp": text(source).encode(),
                "exports.map": b"VERSION { { local: *; }; }\n",
            },
            steps=gcc.parts(toolchain).steps,
            products=("part.so",),
            headers=NAMES,
        )
        return foreign.make(toolchain, recipe), [file is not None for file in tries]

    monkeypatch.setattr(type(foreign), "_compile", compile_)
    for _ in range(headers.WORTH_IT):
        make(f"int warm{next(NUMBERS)};\n")  # one that nobody has compiled
    wanted = Wanted(NAMES, gcc.shared(toolchain), asleep=True)
    assert is_asleep(foreign._headers._kept[wanted])
    yield make
    foreign._headers.close()


def test_a_text_is_compiled_by_one_that_was_woken(making):
    outcome, tries = making("int f() { return 1; }")
    assert isinstance(outcome, Built)
    assert tries == [True]


def test_what_is_said_of_a_text_does_not_name_what_includes_it(making):
    outcome, tries = making("int f() { return nothing; }")
    assert isinstance(outcome, Refused)
    assert tries == [True]
    assert outcome.execution.stderr.startswith(b"part.cpp: In function")
    assert b"proctor_main" not in outcome.execution.stderr


def test_nor_if_it_is_included_by_a_text_itself(making):
    source = '#ifndef DEEP\n#define DEEP\n#include "part.cpp"\n#else\nint f() { return nothing; }\n#endif'
    outcome, _ = making(source)
    assert outcome.execution.stderr.startswith(b"In file included from part.cpp:6:\n")


@pytest.mark.parametrize("name", [gcc.COMPILER, f"{gcc.HEADER}.gch"])
def test_the_assembler_does_not_find_what_the_compiler_was(making, name):
    outcome, tries = making(f'asm(".section .data\\n.incbin \\"{name}\\"\\n.text");')
    assert isinstance(outcome, Refused)
    assert tries == [True]
    assert b"file not found" in outcome.execution.stderr


@pytest.mark.parametrize(
    "source",
    [
        f"int f() {{ return {'(' * 9000}1{')' * 9000}; }}",
        '# 1 "proctor_sleep.h" 1\nint f() { return 1; }',
    ],
    ids=["deep", "asked to sleep"],
)
def test_one_that_was_woken_takes_what_others_take(making, source):
    outcome, tries = making(source)
    assert isinstance(outcome, Built)
    assert tries == [True]


def test_one_that_crashes_leaves_the_text_to_another(making):
    """The time is told by functions of the kernel's, which are not where they were."""
    outcome, tries = making("const char *f() { return __TIME__; }")
    assert isinstance(outcome, Built)
    assert tries == [True, False]


def test_where_what_loads_programs_is_elsewhere_headers_are_compiled(foreign, monkeypatch):
    """There is a file by that name that cannot be run."""
    monkeypatch.setattr(gcc, "LOADER", "/etc/passwd")
    toolchain = foreign.offer("cpp")
    wanted = Wanted(NAMES, gcc.shared(toolchain), asleep=True)
    file = Headers(foreign._compile)._make(toolchain, wanted, known=False)
    assert not is_asleep(file)
    os.close(file)


def test_where_it_cannot_be_done_headers_are_compiled_all_the_same(foreign, monkeypatch):
    monkeypatch.setitem(headers.PLUGINS, "asleep", b"#error not here\n")
    toolchain = foreign.offer("cpp")
    wanted = Wanted(NAMES, gcc.shared(toolchain), asleep=True)
    file = Headers(foreign._compile)._make(toolchain, wanted, known=False)
    assert not is_asleep(file)
    os.close(file)


@pytest.mark.parametrize("broken", [b"", b"\x7fELF", b"\x7fELF" + bytes(100)])
def test_one_that_does_not_wake_is_not_kept(foreign, broken, all_closed):
    toolchain = foreign.offer("cpp")

    def compile_(toolchain, recipe, file):
        made = foreign._compile(toolchain, recipe, file)
        if recipe.products != (gcc.COMPILER,):
            return made
        index = f'[["{gcc.COMPILER}", {len(broken)}]]\n'.encode()
        return type(made)(ending=Exited(0), stdout=index + broken)

    kept = Headers(compile_)
    wanted = Wanted(NAMES, gcc.shared(toolchain), asleep=True)
    file = kept._make(toolchain, wanted, known=False)
    assert not is_asleep(file)
    os.close(file)
