"""The table of benchmarks, where their files are found, and tasks files by path."""

import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import proctor
from proctor.benchmarks import TABLE, cache_folder, find, is_pinned, load
from proctor.benchmarks.source import no_alias
from proctor.errors import InputError
from proctor.records.task import Assertions, CheckFunction

Write = Callable[..., Path]
TASK = {"task_id": "a", "entry_point": "f", "tests": {"kind": "assertions", "targets": ["f(1)"]}}
HUMANEVAL = {
    "task_id": "H/0",
    "prompt": "def f(x):\n",
    "entry_point": "f",
    "test": "def check(candidate):\n    assert candidate(1) == 2\n",
}
MBPP = {
    "task_id": 7,
    "text": "Write f.",
    "code": "def f(x): return 2",
    "test_list": ["assert f(1)"],
}


def refused(name: object, data: Path | None = None) -> str:
    with pytest.raises(InputError) as caught:
        load(str(name), data)
    return str(caught.value)


PINNED = [name for name, source in TABLE.items() if source.sha256]
WITHOUT_SOLUTIONS = (
    *("code_contests", "codeforces"),
    *(name for name in TABLE if name.startswith("multipl-e-")),
)


@pytest.mark.parametrize("name", PINNED)
def test_a_published_benchmark(data: Path, name: str) -> None:
    source = TABLE[name]
    path = find(source, data)
    assert is_pinned(path, source)
    benchmark = load(name, data)
    assert (benchmark.name, benchmark.source) == (name, str(path))
    assert len(benchmark.tasks) == source.tasks
    assert len({task.task_id for task in benchmark.tasks}) == source.tasks
    solved = [bool(task.canonical_solution) for task in benchmark.tasks]
    assert not any(solved) if name in WITHOUT_SOLUTIONS else all(solved)
    assert load(name, path).sha256 == benchmark.sha256


def test_the_table_says_what_is_published() -> None:
    assert {name: source.tasks for name, source in TABLE.items()} == {
        "basics": 54,
        "cpp-context": 28,
        "humaneval": 164,
        "mbpp": 974,
        "mbpp-sanitized": 427,
        "humaneval+": 164,
        "mbpp+": 378,
        "leetcode": 228,
        "contests-leetcode": 200,
        "code_contests": 165,
        "codeforces": 408,
        "apps": 5000,
        "taco": 1000,
        "deepcoder": None,
        "primeintellect": None,
        "livecodebench": 1055,
        "bigcodebench": 1140,
        "bigcodebench-instruct": 1140,
        "bigcodebench-hard": 148,
        "bigcodebench-hard-instruct": 148,
        "humaneval-x-cpp": 164,
        "humaneval-x-go": 164,
        "humaneval-x-java": 164,
        "humaneval-x-js": 164,
        "humaneval-x-rust": 164,
        "multipl-e-cpp": 161,
        "multipl-e-go": 154,
        "multipl-e-java": 158,
        "multipl-e-js": 161,
        "multipl-e-rs": 156,
        "multipl-e-ts": 159,
    }
    for source in TABLE.values():
        assert source.sha256 is None or len(source.sha256) == 64
        assert source.url is None or source.url.startswith("https://")
        assert source.licence


def test_packed_or_not_a_benchmark_is_the_same(data: Path, tmp_path: Path) -> None:
    packed = find(TABLE["humaneval"], data)
    plain = tmp_path / "HumanEval.jsonl"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    assert is_pinned(plain, TABLE["humaneval"])
    assert load("humaneval", plain).sha256 == load("humaneval", packed).sha256


def test_a_changed_file_is_not_the_published_one(tmp_path: Path) -> None:
    path = tmp_path / "HumanEval.jsonl"
    path.write_text(json.dumps(HUMANEVAL) + "\n")
    assert not is_pinned(path, TABLE["humaneval"])
    assert len(load("humaneval", path).tasks) == 1


def test_where_a_file_is_looked_for(alone: Path) -> None:
    source = TABLE["mbpp-sanitized"]
    cache = cache_folder()
    assert cache == alone / "home/.cache/proctor/data"
    places = [
        cache / source.file,
        alone / "folder" / source.file,
        alone / "data" / "mbpp" / f"{source.file}.gz",
        alone / "data" / "mbpp-sanitized" / f"{source.file}.zst",
        alone / "data" / source.file,
    ]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
        data = alone / "data" if place.is_relative_to(alone / "data") else None
        folder = alone / "folder" if (alone / "folder").exists() else None
        assert find(source, data, folder) == place, "each is found before those made earlier"


def test_the_package_that_carries_it(alone: Path) -> None:
    assert is_pinned(find(TABLE["humaneval"]), TABLE["humaneval"])


def test_the_cache_of_the_publishers_own_tool(alone: Path) -> None:
    source = TABLE["humaneval+"]
    place = alone / "home/.cache/evalplus/HumanEvalPlus-v0.1.10.jsonl"
    place.parent.mkdir(parents=True)
    place.touch()
    assert find(source) == place
    ours = alone / "home/.cache/proctor/data/HumanEvalPlus.jsonl"
    ours.parent.mkdir(parents=True)
    ours.touch()
    assert find(source) == ours


def test_what_is_our_own_is_always_there(alone: Path) -> None:
    source = TABLE["basics"]
    (alone / "folder").mkdir()
    (alone / "folder" / source.file).touch()
    own = find(source)
    assert is_pinned(own, source)
    assert find(source, alone) == find(source, None, alone / "folder") == own
    changed = alone / "folder" / source.file
    assert find(source, changed) == changed


def test_nowhere_to_be_found(alone: Path) -> None:
    assert refused("mbpp") == (
        "mbpp: mbpp.jsonl is not on this machine; proctor benchmarks mbpp --download, or --data PATH"
    )
    assert refused("mbpp", alone) == f"--data {alone}: there is no mbpp.jsonl in it"
    missing = alone / "none.jsonl"
    assert refused("mbpp", missing) == f"cannot read {missing}: No such file or directory"


def test_nobody_knows_it(alone: Path) -> None:
    assert refused("humanevil") == (
        f"humanevil: no such benchmark or tasks file; known are {', '.join(TABLE)}"
    )
    assert refused("x" * 5000).startswith("cannot read xxx")
    assert refused(alone) == f"{alone}: no tasks.toml in it, nor in a folder below it"


def test_a_tasks_file_needs_no_data(alone: Path, jsonl: Write) -> None:
    path = jsonl("t.jsonl", [TASK])
    assert refused(path, alone) == f"--data {alone}: {path} is a file itself and needs no other"


def test_the_shape_is_told_by_the_first_row(jsonl: Write) -> None:
    own = load(str(jsonl("my.tasks.jsonl", [TASK])))
    assert (own.name, own.tasks[0].task_id) == ("my", "a")
    assert isinstance(own.tasks[0].tests, Assertions)
    theirs = load(str(jsonl("h.jsonl", [HUMANEVAL])))
    assert isinstance(theirs.tasks[0].tests, CheckFunction)
    assert theirs.tasks[0].limits.wall_seconds == 3.0
    sentences = load(str(jsonl("m.jsonl", [MBPP])))
    assert sentences.tasks[0].task_id == "MBPP/7"
    assert sentences.tasks[0].limits.wall_seconds == 10.0
    assert sentences.aliases["7"] == sentences.aliases["Mbpp/7"] == "MBPP/7"


@pytest.mark.slow
def test_published_files_by_path(data: Path) -> None:
    for name in PINNED:
        if name.endswith("-instruct"):  # whose rows are those of the other prompt
            continue
        path = find(TABLE[name], data)
        by_path, by_name = load(str(path)), load(name, data)
        assert by_path.sha256 == by_name.sha256
        assert by_path.aliases == by_name.aliases


def test_a_duplicate_is_named_with_both_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    other = json.dumps({**TASK, "task_id": "b"})
    path.write_text(f"\n{json.dumps(TASK)}\n\n{other}\n{json.dumps(TASK)}\n")
    assert refused(path) == f"{path}, line 5: task_id 'a' stands in line 2 already"
    path = tmp_path / "t.json"
    path.write_text(json.dumps([TASK, TASK], indent=1))
    assert refused(path) == f"{path}, element 2: task_id 'a' stands in element 1 already"


@pytest.mark.parametrize("content", ["", "\n\n", "[]"])
def test_an_empty_file(tmp_path: Path, content: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(content)
    assert refused(path) == f"{path}: there are no tasks in it"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{}", "line 1: field task_id is missing"),
        (b'{"task_id": "a"}', "line 1: field tests is missing"),
        (b"[1]", "element 1: it must be an object, not a whole number"),
        (b'"text"', "line 1: it must be an object, not a string"),
        (b"nonsense", "line 1: not JSON: invalid character (byte 4)"),
        (b"\xff\xff", "line 1: not JSON: invalid character (byte 0)"),
    ],
)
def test_a_file_of_something_else(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    assert refused(path) == f"{path}, {said}"


def test_names_that_cannot_be_written(alone: Path) -> None:
    path = Path("b\udcffd.jsonl")
    path.write_text(json.dumps(TASK))
    assert load(str(path)).name == "b\\udcffd"


def test_no_alias() -> None:
    assert no_alias("x") == []


def test_another_package_brings_a_benchmark(
    alone: Path, jsonl: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    (alone / "their_package.py").write_text(
        "from proctor.benchmarks import Source\n"
        "from proctor.benchmarks.humaneval import read\n"
        "SOURCE = Source(name='theirs', summary='', file='theirs.jsonl', url='https://x.org', "
        "licence='MIT', read=read)\n"
    )
    about = alone / "their_package-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: their-package\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[proctor.benchmarks]\ntheirs = their_package:SOURCE\n")
    monkeypatch.syspath_prepend(str(alone))
    benchmark = load("theirs", jsonl("theirs.jsonl", [HUMANEVAL]))
    assert (benchmark.name, list(benchmark.ids)) == ("theirs", ["H/0"])
    assert refused("theirs") == (
        "theirs: theirs.jsonl is not on this machine; https://x.org, or --data PATH"
    )


MENTIONS = {
    "benchmarks/suites.py": "suites are lists of benchmarks",
    "cli/commands/bench.py": "the tasks that it measures with",
    "cli/commands/evalplus.py": "datasets of EvalPlus",
    "cli/commands/parity.py": "a default",
    "cli/commands/prompts.py": "where it looks for a task id",
    "formats/multipl_e.py": "families in file names of MultiPL-E",
    "integrations/evalplus.py": "datasets of EvalPlus",
    "report/export.py": "names of formats",
    "languages/language.py": "what programs of contests are called in Piston",
    "sandbox/supervisor/packages.py": "names of packages",
    "server/compat/piston/runtimes.py": "a runtime of open-r1",
    "server/compat/sandboxfusion/datasets.py": "datasets of SandboxFusion",
}
"""Files that name benchmarks without declaring them."""


def test_a_benchmark_is_named_only_in_the_file_that_declares_it() -> None:
    package = Path(proctor.__file__).parent
    names = re.compile("|".join(f'"{re.escape(name)}"' for name in TABLE))
    naming = {
        str(file.relative_to(package))
        for file in package.rglob("*.py")
        if names.search(text := file.read_text()) and "\nSOURCES = " not in text
    }
    assert naming <= MENTIONS.keys()


def test_a_new_file_of_the_package_declares_a_benchmark(tmp_path: Path) -> None:
    copy = tmp_path / "proctor"
    shutil.copytree(Path(proctor.__file__).parent, copy)
    (copy / "benchmarks" / "added.py").write_text(
        "from proctor.benchmarks.source import Source\n"
        "from proctor.benchmarks.tasks_file import read\n"
        "SOURCES = (Source(name='added', summary='', file='x', licence='', read=read),)\n"
    )
    code = "from proctor.benchmarks import TABLE; print(list(TABLE)[-1])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "added\n"
