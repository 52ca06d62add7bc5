"""Repository tasks: folders and rows, and what is wrong with them in one sentence."""

import json
from pathlib import Path

import pytest

from proctor.benchmarks import load
from proctor.errors import InputError

UNIT = """\
#include "a.h"
namespace m {
// HOLE one
int one() { return 1; }
// END one
// HOLE two
int two() { return one() + 1; }
// END two
}
"""
TASKS = """
flags = ["-std=c++20", "-Iinclude"]
[[task]]
task_id = "m/one"
prompt = "Write one."
headers = ["include/a.h"]
[[task]]
task_id = "m/two"
tests = "tests/one.cpp"
call_graph = ["m::one"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("include", "src", "tests"):
        (tmp_path / name).mkdir()
    (tmp_path / "include" / "a.h").write_text("namespace m { int one(); int two(); }\n")
    (tmp_path / "src" / "a.cpp").write_text(UNIT)
    (tmp_path / "src" / "b.cpp").write_text('#include "a.h"\n')
    (tmp_path / "tests" / "one.cpp").write_text("int main() {}\n")
    (tmp_path / "tasks.toml").write_text(TASKS)
    return tmp_path


def test_a_folder_is_a_benchmark(folder):
    one, two = load(str(folder)).tasks
    assert one.canonical_solution == "int one() { return 1; }\n"
    assert one.context.files["src/a.cpp"] == (
        '#include "a.h"\nnamespace m {\n/*HOLE*/\nint two() { return one() + 1; }\n}\n'
    )
    assert set(one.context.files) == {"include/a.h", "src/a.cpp", "src/b.cpp"}
    assert (one.context.unit, one.context.sources) == ("src/a.cpp", ["src/b.cpp"])
    assert one.context.flags == ["-std=c++20", "-Iinclude"]
    assert one.prompt.startswith("Write one.\n\ninclude/a.h:\n```cpp\nnamespace m {")
    assert "/*HOLE*/" in one.prompt
    assert two.context.call_graph == ["m::one"]
    assert "Use only these: m::one." in two.prompt


def test_a_folder_of_folders_is_one_too(folder):
    assert [task.task_id for task in load(str(folder)).tasks] == ["m/one", "m/two"]
    inner = folder / "inner"
    inner.mkdir()
    for name in ("include", "src", "tests", "tasks.toml"):
        (folder / name).rename(inner / name)
    assert len(load(str(folder)).tasks) == 2


def test_flags_of_single_files(folder):
    entry = {"directory": "/x", "file": "src/a.cpp", "arguments": ["g++", "-I/x/include", "-c"]}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    context = load(str(folder)).tasks[0].context
    assert context.flags_of("src/a.cpp") == ["-Iinclude"]
    assert context.flags_of("src/b.cpp") == ["-std=c++20", "-Iinclude"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("task_id = 'm/x'", TASKS), "{}/tasks.toml: field task_id is not known"),
        (('"m/one"', '"m/three"'), "task 1: 0 pairs of // HOLE three and // END three, not one"),
        (("flags = [", "flags = [3, "), "{}/tasks.toml: field flags[0] must be a string"),
        (('["include/a.h"]', '["b.h"]'), "task 1: context.headers: 'b.h' is none of context.files"),
        (('tests = "tests/one.cpp"', ""), "cannot read {}/tests/two.cpp"),
        (("[[task]]", "[[tasks]]"), "{}/tasks.toml: field "),
        (('"m/two"', '"m/one"'), "task_id 'm/one' stands in task 1 already"),
    ],
)
def test_what_is_wrong_is_one_sentence(folder, change, said):
    before, after = change
    text = f"{before}\n{after}" if before.startswith("task_id") else TASKS.replace(before, after)
    (folder / "tasks.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        load(str(folder))
    assert said.format(folder) in str(caught.value)


def test_a_folder_without_tasks(tmp_path):
    with pytest.raises(InputError) as caught:
        load(str(tmp_path))
    assert str(caught.value) == f"{tmp_path}: no tasks.toml in it, nor in a folder below it"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"context": {"files": {}, "unit": "a.cpp"}}, "context.unit is 'a.cpp'"),
        ({"context": {"files": {}}}, "field context.unit is missing"),
        ({"context": {"unit": "a", "files": {}, "flag": 1}}, "field context.flag is not known"),
        ({"language": "c"}, "context is for tasks in cpp whose tests.kind is 'program'"),
        (
            {"tests": {"kind": "stdin", "inputs": [""], "outputs": [""]}},
            "context is for tasks in cpp whose tests.kind is 'program'",
        ),
    ],
)
def test_rows_with_a_context(jsonl, changes, said):
    row = {
        "task_id": "a",
        "language": "cpp",
        "tests": {"kind": "program", "code": "int main() {}"},
        "context": {"files": {"a.cpp": "/*HOLE*/"}, "unit": "a.cpp"},
    }
    assert load(str(jsonl("right.jsonl", [row]))).tasks[0].context.unit == "a.cpp"
    with pytest.raises(InputError) as caught:
        load(str(jsonl("wrong.jsonl", [{**row, **changes}])))
    assert said in str(caught.value)
