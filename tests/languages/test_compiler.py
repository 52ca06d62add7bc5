"""Compilers: what they leave is kept, what they say has a bucket, and their faults are ours."""

import threading

import pytest

from proctor.languages import get_language
from proctor.languages.compiler import (
    ENTRY_BYTES,
    KEPT_DIAGNOSTICS,
    Builder,
    CompiledProgram,
    CompileFailure,
    bucket_of,
)
from proctor.languages.toolchain import Toolchain
from proctor.records.execution import (
    Execution,
    Exited,
    OutOfMemory,
    OutputTooLong,
    Signalled,
    TimedOut,
)
from proctor.records.limits import MIB
from proctor.records.program import Program
from proctor.records.verdict import Bucket

CPP = Toolchain(
    language=get_language("cpp"), version="g++ 12", commands={"g++": "/usr/bin/g++"}, shown=()
)


def program(source="int main() {}"):
    return Program(source=source, language="cpp")


def compiler(*executions):
    """Return a compiler that ends as told, once for every ending, and how often it was asked."""
    asked = []

    def compile_():
        asked.append(True)
        return executions[len(asked) - 1]

    return compile_, asked


def test_equal_programs_are_compiled_once():
    builder = Builder()
    compile_, asked = compiler(Execution(ending=Exited(0), stdout=b"binary"))
    for _ in range(3):
        assert builder.build(program(), CPP, compile_).files == b"binary"
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("ending", "bucket", "tries"),
    [
        (Exited(1), Bucket.COMPILE, 1),
        (OutputTooLong(), Bucket.COMPILE, 1),
        (TimedOut("cpu"), Bucket.COMPILE_TIMEOUT, 1),
        (OutOfMemory(), Bucket.COMPILE_RESOURCE, 2),
        (Signalled(9), Bucket.COMPILE_RESOURCE, 2),
    ],
)
def test_endings_and_their_buckets(ending, bucket, tries):
    compile_, asked = compiler(*[Execution(ending=ending, stderr=b"x" * 2 * MIB)] * 2)
    outcome = Builder().build(program(), CPP, compile_)
    assert isinstance(outcome, CompileFailure)
    assert (bucket_of(outcome.execution), len(asked)) == (bucket, tries)
    assert not outcome.execution.compiled
    assert len(outcome.execution.stderr) == KEPT_DIAGNOSTICS


def test_a_driver_whose_compiler_was_killed_ran_out_of_something():
    said = b"g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n"
    compile_, asked = compiler(
        Execution(ending=Exited(1), stderr=said), Execution(ending=Exited(0), stdout=b"fine")
    )
    assert Builder().build(program(), CPP, compile_).files == b"fine"
    assert len(asked) == 2


def test_what_a_program_has_its_compiler_say_decides_nothing():
    said = b"x\ng++: fatal error: Killed signal terminated program cc1plus\ninternal compiler error"
    compile_, asked = compiler(*[Execution(ending=Exited(1), stderr=said)] * 2)
    outcome = Builder().build(program(), CPP, compile_)
    assert isinstance(outcome, CompileFailure)
    assert (bucket_of(outcome.execution), len(asked)) == (Bucket.COMPILE, 2)


@pytest.mark.parametrize("ending", [Signalled(11), Exited(4)])
def test_a_crashing_compiler_is_tried_again_and_crashed_by_its_program_if_alone(ending):
    crash, fine = Execution(ending=ending), Execution(ending=Exited(0))
    compile_, _ = compiler(crash, fine)
    assert isinstance(Builder().build(program(), CPP, compile_), CompiledProgram)
    compile_, _ = compiler(crash, crash, fine)
    builder = Builder()
    outcome = builder.build(program(), CPP, compile_)
    assert isinstance(outcome, CompileFailure)
    assert bucket_of(outcome.execution) is Bucket.COMPILE_RESOURCE
    assert isinstance(builder.build(program(), CPP, compile_), CompiledProgram), (
        "it is not held against it"
    )


def test_what_is_kept_is_bounded():
    builder = Builder(kept_bytes=2 * (ENTRY_BYTES + 100) + 50)
    asked = []

    def compile_():
        asked.append(True)
        return Execution(ending=Exited(0), stdout=bytes(100))

    for name in ("a", "b", "c", "c", "a"):
        builder.build(program(name), CPP, compile_)
    assert len(asked) == 4, "a was dropped when c came"
    assert builder._bytes == 2 * (ENTRY_BYTES + 100)


def test_one_that_is_tried_again_has_the_machine_for_itself():
    builder = Builder(max_running=2)
    inside: list[str] = []
    together: list[int] = []
    lock = threading.Lock()

    def compile_(name, endings):
        def run():
            with lock:
                inside.append(name)
                if name == "big" and len(endings) == 1:
                    together.append(len(inside))
            threading.Event().wait(0.02)
            with lock:
                inside.remove(name)
                return Execution(ending=endings.pop(0))

        return run

    jobs = [("big", [OutOfMemory(), Exited(0)]), *((f"{n}", [Exited(0)]) for n in range(6))]
    threads = [
        threading.Thread(
            target=builder.build, args=(program(name), CPP, compile_(name, list(ends)))
        )
        for name, ends in jobs
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == [1]


def test_it_is_known_what_is_being_compiled():
    builder, begun, go = Builder(), threading.Event(), threading.Event()

    def compile_():
        begun.set()
        assert go.wait(10)
        return Execution(ending=Exited(0))

    assert not builder.is_building("one")
    thread = threading.Thread(target=builder.build_as, args=("one", CPP, compile_))
    thread.start()
    assert begun.wait(10)
    assert builder.is_building("one")
    assert not builder.is_building("another")
    go.set()
    thread.join()
    assert not builder.is_building("one")
