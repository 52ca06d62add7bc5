"""Headers compiled beforehand: used, no more than asked for, and nobody else's to change."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from proctor.cancellation import Cancelled
from proctor.errors import SandboxError
from proctor.languages import gcc
from proctor.languages.compiler import BuildRecipe, CompiledProgram, CompileFailure, unpack_files
from proctor.records.execution import Execution, Exited, Signalled, TimedOut, Usage
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox.supervisor.box_pool import Pool
from proctor.sandbox.toolchains import precompiled_headers
from proctor.sandbox.toolchains import runner as foreign_boxes
from proctor.sandbox.toolchains.precompiled_headers import (
    PRECOMPILE_AFTER_USES,
    PRECOMPILE_PROGRAMS_AFTER_USES,
    HeaderRequest,
    PrecompiledHeaders,
)
from tests.requires import requires_language


@pytest.fixture
def toolchains(kernel):
    requires_language(kernel, "cpp")
    return kernel.native("cpp")


def recipe(toolchain, source, names):
    return BuildRecipe(
        files={"part.cpp": source.encode(), "exports.map": b"{ local: *; };\n"},
        steps=gcc.parts(toolchain).steps,
        products=("part.so",),
        headers=names,
    )


def test_they_are_used_and_are_no_superset(toolchains, monkeypatch):
    """What a text does not include is missing, even if it was compiled for others."""
    used = []
    original = type(toolchains)._compile

    def watched(self, toolchain, made, file):
        used.append(file is not None)
        return original(self, toolchain, made, file)

    monkeypatch.setattr(type(toolchains), "_compile", watched)
    monkeypatch.setattr(toolchains, "_headers", PrecompiledHeaders(toolchains._compile))
    toolchain = toolchains.require("cpp")
    both = "#include <vector>\n#include <map>\nstd::map<int, std::vector<int>> m; // {}\n"
    for n in range(PRECOMPILE_AFTER_USES + 1):
        made = toolchains.build_recipe(
            toolchain, recipe(toolchain, both + f"int n{n};\n", ("vector", "map"))
        )
        assert isinstance(made, CompiledProgram)
    assert used == [False] * PRECOMPILE_AFTER_USES + [True, True, True], (
        "a text, the headers, then a proof and texts with them"
    )
    lacking = "#include <vector>\nstd::map<int, int> m;\n"
    refused = toolchains.build_recipe(toolchain, recipe(toolchain, lacking, ("vector",)))
    assert isinstance(refused, CompileFailure)
    assert b"map" in refused.execution.stderr
    toolchains._headers.close()


def compiled(toolchains, names, source):
    """Compile a text with headers, and return the assembler's."""
    toolchain = toolchains.require("cpp")
    wanted = HeaderRequest(names, gcc.shared(toolchain))
    file = PrecompiledHeaders(toolchains._compile)._make(toolchain, wanted, known=False)
    text = "".join(f"#include <{name}>\n" for name in names) + source
    [first, *_] = gcc.parts(toolchain).steps
    made = toolchains._compile(
        toolchain,
        BuildRecipe(files={"part.cpp": text.encode()}, steps=[first], products=("part.s",)),
        file,
    )
    os.close(file)
    return made


@pytest.fixture
def tries(toolchains, monkeypatch):
    """Have headers compiled; return whether they were used, for each compilation after that."""
    toolchain = toolchains.require("cpp")
    kept = PrecompiledHeaders(toolchains._compile)
    for _ in range(PRECOMPILE_AFTER_USES):
        file = kept.take(toolchain, HeaderRequest(("vector",), gcc.shared(toolchain)))
    os.close(file)
    tries = []
    original = type(toolchains)._compile

    def compile_(self, toolchain, made, file):
        tries.append(file is not None)
        return original(self, toolchain, made, file)

    monkeypatch.setattr(toolchains, "_headers", kept)
    monkeypatch.setattr(type(toolchains), "_compile", compile_)
    yield tries
    kept.close()


VECTOR = "#include <vector>\n"


def test_the_assembler_does_not_find_compiled_headers(toolchains, tries):
    toolchain = toolchains.require("cpp")
    source = f'{VECTOR}asm(".section .data\\n.incbin \\"{gcc.HEADER}.gch\\"\\n.text");\n'
    outcome = toolchains.build_recipe(toolchain, recipe(toolchain, source, ("vector",)))
    assert isinstance(outcome, CompileFailure)
    assert b"file not found" in outcome.execution.stderr
    assert tries == [True]


@pytest.mark.parametrize("ending", [Signalled(signal.SIGSEGV), Exited(4)])
def test_a_compiler_that_crashes_with_compiled_headers_is_run_without(
    toolchains, tries, monkeypatch, ending
):
    original = type(toolchains)._compile

    def compile_(self, toolchain, made, file):
        done = original(self, toolchain, made, file)
        return done if file is None else msgspec.structs.replace(done, ending=ending)

    monkeypatch.setattr(type(toolchains), "_compile", compile_)
    toolchain = toolchains.require("cpp")
    made = toolchains.build_recipe(
        toolchain, recipe(toolchain, f"{VECTOR}// {ending}\n", ("vector",))
    )
    assert isinstance(made, CompiledProgram)
    assert tries == [True, False]


def test_a_text_that_is_refused_with_compiled_headers_is_compiled_once(toolchains, tries):
    toolchain = toolchains.require("cpp")
    source = f"{VECTOR}int f() {{ return nothing; }}\n"
    outcome = toolchains.build_recipe(toolchain, recipe(toolchain, source, ("vector",)))
    assert isinstance(outcome, CompileFailure)
    assert outcome.execution.stderr.startswith(b"part.cpp: In function")
    assert tries == [True]


LEFT_TO_TEXTS = "std::vector<std::string> f(std::string s) { return {s, std::to_string(1)}; }\n"


def test_templates_that_headers_use_are_instantiated_ahead(toolchains, monkeypatch):
    """A text comes to the same code, function by function, in less of the compiler's time."""
    names = ("string", "vector", "regex")
    tries = [compiled(toolchains, names, LEFT_TO_TEXTS) for _ in range(3)]
    monkeypatch.setattr(precompiled_headers, "PLUGIN_SOURCE", b"#error no plugins here\n")
    others = [compiled(toolchains, names, LEFT_TO_TEXTS) for _ in range(3)]
    ahead, later = (min(all_, key=lambda one: one.usage.cpu_seconds) for all_ in (tries, others))
    assert ahead.ending == later.ending == Exited(0)
    assert len(functions_of(ahead)) > 20
    assert functions_of(ahead) == functions_of(later)
    assert ahead.usage.cpu_seconds < later.usage.cpu_seconds


def functions_of(made):
    """Return the code of each function.

    Compilers number labels as they go, and have two names for most constructors: either will do.
    """
    text = re.sub(r"\.L[A-Z]*\d+", ".L", unpack_files(made.stdout)["part.s"].decode())
    text = re.sub(r"\b(_ZN\w+[CD])[12](?=[EI])", r"\1", text)
    found = re.findall(r"^(\w+):\n(.*?)\n\t\.size\t\1,", text, re.MULTILINE | re.DOTALL)
    return {name: re.findall(r"^\t[a-z].*$", code, re.MULTILINE) for name, code in found}


def test_a_compiler_that_takes_no_plugin_has_headers_all_the_same(toolchains, monkeypatch):
    monkeypatch.setattr(precompiled_headers, "PLUGIN_SOURCE", b"#error no plugins here\n")
    assert compiled(toolchains, ("vector",), "std::vector<int> v;\n").ending == Exited(0)


def test_a_shorter_beginning_will_do_until_all_is_compiled(toolchains, all_closed):
    """Never one that is not how the text begins."""
    toolchain = toolchains.require("cpp")
    kept = PrecompiledHeaders(lambda *_: made(10))
    for _ in range(PRECOMPILE_AFTER_USES):
        short = kept.take(toolchain, HeaderRequest(("map", "set"), ()))
    os.close(short)
    longer = kept.take(toolchain, HeaderRequest(("map", "set", "list"), ()))
    assert os.fstat(longer).st_ino == os.fstat(kept._kept[HeaderRequest(("map", "set"), ())]).st_ino
    os.close(longer)
    assert kept.take(toolchain, HeaderRequest(("map",), ())) is None
    assert kept.take(toolchain, HeaderRequest(("set", "map"), ())) is None
    kept.close()


PROGRAM = """#include <algorithm>
#include <iostream>
#include <vector>
int main() {
    int n;
    std::vector<int> all;
    while (std::cin >> n) all.push_back(n);
    std::sort(all.begin(), all.end());
    for (int one : all) std::cout << one << ' ';
}
"""


@pytest.fixture
def watched(toolchains, monkeypatch):
    """Have no headers compiled yet; tell which programs were compiled with some."""
    monkeypatch.setattr(toolchains, "_headers", PrecompiledHeaders(toolchains._compile))
    seen = []
    original = foreign_boxes.compile_in_box

    def compile_in(*given, **more):
        seen.append(more.get("headers") is not None)
        return original(*given, **more)

    monkeypatch.setattr(foreign_boxes, "compile_in_box", compile_in)
    yield seen
    toolchains._headers.close()


def run(toolchains, source, given=b"3 1 2"):
    program = Program(source=source, language="cpp")
    return toolchains.repeat(program, Limits()).run(given)


def test_whole_programs_have_them_too(toolchains, watched):
    for n in range(PRECOMPILE_PROGRAMS_AFTER_USES + 1):
        execution = run(toolchains, f"{PROGRAM}// {n}\n")
        assert (execution.ending, execution.stdout) == (Exited(0), b"1 2 3 ")
    assert watched == [False] * (PRECOMPILE_PROGRAMS_AFTER_USES - 1) + [True] * 2


@pytest.mark.slow
def test_a_program_that_is_refused_with_them_is_read_from_the_start(toolchains, watched):
    """What is said of it is what a compiler says who knows nothing of them."""
    for n in range(PRECOMPILE_PROGRAMS_AFTER_USES):
        run(toolchains, f"{PROGRAM}// before one that is refused: {n}\n")
    watched.clear()
    execution = run(toolchains, f"{PROGRAM}std::map<int, int> lacking;\n")
    assert watched == [True, False]
    assert execution.ending == Exited(1)
    assert b"main.cpp:11" in execution.stderr
    assert gcc.HEADER.encode() not in execution.stderr


@pytest.mark.slow
def test_a_program_that_specializes_templates_is_read_from_the_start(toolchains, watched):
    special = PROGRAM.replace(
        "int main()",
        "struct P { int x; };\n"
        "namespace std { template <> struct less<P> "
        "{ bool operator()(P a, P b) const { return a.x > b.x; } }; }\nint main()",
    )
    for n in range(PRECOMPILE_PROGRAMS_AFTER_USES + 1):
        assert run(toolchains, f"{special}// {n}\n").stdout == b"1 2 3 "
    assert not any(watched)


def test_what_is_refused_costs_its_time_once(toolchains, watched, monkeypatch):
    """The second look has what the first one left; with nothing left, the first one's word holds."""
    for n in range(PRECOMPILE_PROGRAMS_AFTER_USES):
        run(toolchains, f"{PROGRAM}// before one that takes long: {n}\n")
    given = []

    def compile_in(box, toolchain, program, limits, *, headers=None, **more):
        given.append(limits.wall_seconds)
        if headers is None:
            return Execution(ending=TimedOut("wall"))
        return Execution(ending=Exited(1), stderr=b"first", usage=Usage(wall_seconds=20.0))

    monkeypatch.setattr(foreign_boxes, "compile_in_box", compile_in)
    execution = run(toolchains, f"{PROGRAM}// one that takes long\n")
    assert given == [30.0, 10.0]
    assert (execution.ending, execution.stderr) == (Exited(1), b"first")


def test_no_descriptor_is_left_where_there_is_no_box(toolchains, watched, monkeypatch, all_closed):
    for n in range(PRECOMPILE_PROGRAMS_AFTER_USES):
        run(toolchains, f"{PROGRAM}// before there is no box: {n}\n")
    before = len(os.listdir("/proc/self/fd"))

    def take(self):
        raise SandboxError("no box")

    monkeypatch.setattr(Pool, "take", take)
    with pytest.raises(SandboxError, match="no box"):
        run(toolchains, f"{PROGRAM}// without a box\n")
    assert len(os.listdir("/proc/self/fd")) == before
    toolchains._headers.close()


def test_who_goes_away_while_they_are_proved_leaves_that_to_the_next(toolchains, all_closed):
    toolchain = toolchains.require("cpp")
    gone = [True]

    def compile_(_toolchain, _recipe, file):
        if file is not None and gone:
            raise Cancelled
        return made(10)

    kept = PrecompiledHeaders(compile_)
    wanted = HeaderRequest(("map",), ())
    for _ in range(PRECOMPILE_AFTER_USES - 1):
        kept.take(toolchain, wanted)
    with pytest.raises(Cancelled):
        kept.take(toolchain, wanted)
    gone.clear()
    os.close(kept.take(toolchain, wanted))
    kept.close()


def made(size):
    return Execution(
        ending=Exited(0),
        stdout=f'[["{gcc.HEADER}.gch",{size}]]\n'.encode() + bytes(size),
        stderr=f"! {gcc.HEADER}.gch\n".encode(),
    )


def test_while_one_makes_them_others_do_without(toolchains, all_closed):
    """They count for nothing, and nobody makes them a second time."""
    toolchain, wanted = toolchains.require("cpp"), HeaderRequest(("map",), ())
    meanwhile = []

    def compile_(*_):
        meanwhile.append(kept.take(toolchain, wanted))
        return made(10)

    kept = PrecompiledHeaders(compile_)
    for _ in range(PRECOMPILE_AFTER_USES):
        file = kept.take(toolchain, wanted)
    assert meanwhile == [None] * 2, "the headers and their proof"
    os.close(file)
    kept.close()


def test_they_are_asked_for_some_times_before_it_is_worth_it(toolchains, all_closed):
    toolchain = toolchains.require("cpp")
    kept = PrecompiledHeaders(lambda *_: made(10))
    first = [
        kept.take(toolchain, HeaderRequest(("map",), ())) for _ in range(PRECOMPILE_AFTER_USES)
    ]
    assert first[:-1] == [None] * (PRECOMPILE_AFTER_USES - 1)
    assert os.fstat(first[-1]).st_size == 10
    os.close(first[-1])
    kept.close()


@pytest.mark.parametrize(
    "answer",
    [
        Execution(ending=Exited(1), stderr=b"no such header"),
        Execution(ending=Exited(0), stdout=made(10).stdout, stderr=b"x headers.h.gch\n"),
    ],
)
def test_what_is_not_used_is_not_kept(toolchains, all_closed, answer):
    toolchain = toolchains.require("cpp")
    kept = PrecompiledHeaders(lambda *_: answer)
    assert [
        kept.take(toolchain, HeaderRequest(("map",), ())) for _ in range(3 * PRECOMPILE_AFTER_USES)
    ] == [None] * 3 * PRECOMPILE_AFTER_USES


def test_no_more_is_kept_than_there_is_room_for(toolchains, all_closed):
    toolchain = toolchains.require("cpp")
    kept = PrecompiledHeaders(lambda *_: made(100), kept_bytes=250)
    for name in ("map", "set", "list"):
        for _ in range(PRECOMPILE_AFTER_USES):
            file = kept.take(toolchain, HeaderRequest((name,), ()))
        os.close(file)
    assert [wanted.names for wanted in kept._kept] == [("set",), ("list",)]
    kept.close()


COMPILING = """
import sys, threading, time
from pathlib import Path
from proctor.judge.judge import Judge
from proctor.records.program import Program
from proctor.sandbox.tiers.select import open_sandbox
from proctor.records.task import Task, TestProgram
prompt = "#include <map>\\nint f(int x) {\\n"
task = Task(task_id="t", language="cpp", prompt=prompt, entry_point="f",
            tests=TestProgram(code="int main() { f(1); }"))
sandbox = open_sandbox("kernel", sys.executable)
judge = Judge(sandbox)
for n in range(3):
    judge.judge(task, Program(source=f"{prompt}    return {n};\\n}}\\n", language="cpp"))
bomb = Program(source=Path(sys.argv[1]).read_text() + "int f(int x) { return x; }", language="cpp")
threading.Thread(target=judge.judge, args=(task, bomb), daemon=True).start()
time.sleep(1.5)
print("compiling", flush=True)
time.sleep(1000)
"""


def test_a_supervisor_that_is_killed_while_compiling_leaves_nothing(
    toolchains, tmp_path, processes_below
):
    """No process, and no file: what was compiled lies in memory that goes with it."""
    bomb = Path(__file__).parents[2] / "corpus" / "cpp" / "compile_timeout" / "template_bomb.cpp"
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", COMPILING, str(bomb)],
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    assert process.stdout.readline() == b"compiling\n"
    below = processes_below(process.pid)
    names = {Path(f"/proc/{pid}/comm").read_text().strip() for pid in below}
    assert "cc1plus" in names
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(Path(f"/proc/{pid}").exists() for pid in below):
        time.sleep(0.05)
    assert not [pid for pid in below if Path(f"/proc/{pid}").exists()]
    assert list(scratch.iterdir()) == []
