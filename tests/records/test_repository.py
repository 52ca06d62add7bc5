"""Contexts: what is wrong with one, and what a compile_commands.json says."""

import msgspec
import pytest

from proctor.records.repository import (
    CompileCommand,
    Repository,
    find_problem,
    repository_from_commands,
)

CONTEXT = Repository(files={"a.cpp": "/*HOLE*/", "b.cpp": "", "a.h": ""}, unit="a.cpp")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"unit": "c.cpp"}, "context.unit is 'c.cpp', which is none of context.files"),
        ({"unit": "b.cpp"}, "context.unit: b.cpp has 0 marks /*HOLE*/; it must have one"),
        ({"files": {"a.cpp": "/*HOLE*/ /*HOLE*/"}}, "has 2 marks"),
        ({"files": {"a.cpp": "/*HOLE*/", "../x": ""}}, "'../x' is no path below the repository"),
        ({"files": {"a.cpp": "/*HOLE*/", "/x": ""}}, "'/x' is no path"),
        ({"files": {"a.cpp": "/*HOLE*/", "-o": ""}}, "'-o' is no path"),
        ({"files": {"a.cpp": "/*HOLE*/", "x\n": ""}}, "is no path"),
        ({"sources": ["z.cpp"]}, "context.sources: 'z.cpp' is none of context.files"),
        ({"sources": ["a.cpp"]}, "context.sources: 'a.cpp' is the unit with the hole"),
        ({"headers": ["z.h"]}, "context.headers: 'z.h' is none of context.files"),
        ({"files": {"a.cpp": "/*HOLE*/" + " " * (8 << 20)}}, "8 MiB"),
    ],
)
def test_what_is_wrong_is_one_sentence(changes, said):
    assert said in (find_problem(msgspec.structs.replace(CONTEXT, **changes)) or "")


def test_a_right_one():
    assert find_problem(msgspec.structs.replace(CONTEXT, sources=["b.cpp"])) is None
    assert CONTEXT.filled("int x;\n") == "int x;\n"


def test_flags_are_taken_from_compile_commands():
    entries = [
        CompileCommand(
            directory="/home/me/repo",
            file="/home/me/repo/src/a.cpp",
            command="/usr/bin/g++ -I/home/me/repo/include -isystem /home/me/repo/third -DX=1 "
            "-std=c++20 -o a.o -c /home/me/repo/src/a.cpp",
        ),
        CompileCommand(
            directory="/home/me/repo", file="src/b.cpp", arguments=["c++", "-c", "src/b.cpp"]
        ),
    ]
    assert repository_from_commands(entries) == {
        "src/a.cpp": ["-Iinclude", "-isystem", "third", "-DX=1", "-std=c++20"],
        "src/b.cpp": [],
    }


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (CompileCommand(file="a.cpp"), "compile_commands[0] has neither arguments nor a command"),
        (
            CompileCommand(file="a.cpp", arguments=["clang++", "-c"]),
            "a command of 'clang++'; g++ is known",
        ),
        (CompileCommand(file="a.cpp", command="g++ 'open"), "No closing quotation"),
    ],
)
def test_commands_that_cannot_be_taken_over(entry, said):
    with pytest.raises(ValueError) as caught:
        repository_from_commands([entry])
    assert said in str(caught.value)
