"""Whatever is wrong with what a command reads: one sentence, the right status, nothing lost.

The tables are the contract: what is given, and the very sentence that comes of it.
"""

import gzip
import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from backports import zstd

Proctor = Callable[..., Any]
SCORE = ("score", "tasks.jsonl", "--completions", "s.jsonl", "--out", "run")
EVIL = "\x1b[31m\x9b2J\u202e\x07"
SHOWN = r"\x1b[31m\x9b2J\u202e\x07"
TAKE_OUT = "take that line out, and the run's command makes a new one"


def task(n: int, **changes: Any) -> dict[str, Any]:
    tests = {"kind": "assertions", "targets": ["f(1) == 1"]}
    solution = {"canonical_solution": "def f(x): return x"}
    return {"task_id": f"t/{n}", "entry_point": "f", "tests": tests, **solution, **changes}


def sample(n: int, **changes: Any) -> dict[str, Any]:
    return {"task_id": f"t/{n}", "solution": "def f(x): return x", **changes}


def jsonl(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


TASKS = jsonl(*(task(n) for n in range(3)))
SAMPLES = jsonl(*(sample(n) for n in range(3)))


@pytest.fixture
def files(alone: Path) -> Path:
    """Write a tasks file and a samples file that are good."""
    Path("tasks.jsonl").write_bytes(TASKS)
    Path("s.jsonl").write_bytes(SAMPLES)
    Path("good.py").write_text("print(1)\n")
    Path("folder").mkdir()
    os.mkfifo("pipe")
    return alone


def everything() -> dict[str, bytes]:
    """Return all that is here."""
    return {str(p): p.read_bytes() if p.is_file() else b"" for p in sorted(Path().rglob("*"))}


@pytest.fixture
def refused(proctor: Proctor, files: Path) -> Callable[..., tuple[int, str]]:
    """Return a function that runs a command which must end with one sentence and change nothing."""

    def run(*args: object) -> tuple[int, str]:
        before = everything()
        ran = proctor(*args)
        assert ran.out == "", "standard output is for results"
        assert everything() == before, "nothing is written, nothing is lost"
        assert "Traceback" not in ran.err
        return ran.status, ran.complaint

    return run


# Rows of samples files; each stands in line 2, or the whole content is given

ROWS: dict[str, tuple[Any, str]] = {
    "unknown task": (sample(9), "s.jsonl, line 2: task_id 't/9' is not a task of tasks"),
    "escapes": (sample(1, task_id=EVIL), f"s.jsonl, line 2: task_id '{SHOWN}' is not a task of tasks"),
    "no id": ({"solution": ""}, "s.jsonl, line 2: field task_id is missing"),
    "id of no kind": (sample(1, task_id=None), "s.jsonl, line 2: field task_id must be a string, not null"),
    "id that is true": (sample(1, task_id=True), "s.jsonl, line 2: field task_id must be a string, not a boolean"),
    "no text": ({"task_id": "t/1"}, "s.jsonl, line 2: there is neither a field completion nor a field solution"),
    "text of no kind": (sample(1, solution=["x"]), "s.jsonl, line 2: field solution must be a string, not an array"),
    "no object": ([1], "s.jsonl, line 2: it must be an object, not an array"),
    "nothing": (None, "s.jsonl, line 2: it must be an object, not null"),
    "no number": (sample(1, logprob=float("nan")), "s.jsonl, line 2: not JSON: NaN is no number"),
    "torn": (b'{"task_id": "t/1", "sol\n', "s.jsonl, line 2: not JSON: Input data was truncated"),
    "not JSON": (b"{'task_id': 't/1'}\n", "s.jsonl, line 2: not JSON: object keys must be strings (byte 1)"),
    "not UTF-8": (b'{"task_id": "t/1", "solution": "\xff"}\n', "s.jsonl, line 2: not UTF-8: byte 0xff, invalid start byte"),
    "raw escape": (f'{{"task_id": "{EVIL}"}}\n'.encode(), "s.jsonl, line 2: not JSON: invalid character (byte 13)"),
    "zeros": (b"\0" * 100 + b"\n", "s.jsonl, line 2: not JSON: invalid character (byte 0)"),
    "huge number": (b'{"task_id": ' + b"9" * 5000 + b"}\n", "s.jsonl, line 2: a field: integer value out of range"),
    "huge float": (b'{"task_id": "t/1", "x": 1e999}\n', "s.jsonl, line 2: a field: number out of range"),
    "deep": (b'{"x": ' + b"[" * 101 + b"]" * 101 + b"}\n", "s.jsonl, line 2: nested more than 100 deep"),
    "very deep": (b'{"x": ' * 90_000, "s.jsonl, line 2: nested more than 100 deep"),
}  # fmt: skip


@pytest.mark.parametrize("case", ROWS)
@pytest.mark.parametrize("mode", ["text", "json"])
def test_rows_of_samples(refused: Callable[..., Any], case: str, mode: str) -> None:
    row, said = ROWS[case]
    content = row if isinstance(row, bytes) else jsonl(row)
    Path("s.jsonl").write_bytes(jsonl(sample(0)) + content + SAMPLES)
    assert refused(*SCORE, *(["--json"] if mode == "json" else [])) == (2, said)


def test_line_17(refused: Callable[..., Any]) -> None:
    rows = SAMPLES * 5 + jsonl(sample(0))
    assert rows.count(b"\n") == 16
    Path("s.jsonl").write_bytes(rows + b"this is not JSON\n" + SAMPLES)
    assert refused(*SCORE) == (2, "s.jsonl, line 17: not JSON: invalid character (byte 4)")
    Path("s.jsonl").write_bytes(SAMPLES)
    tasks = jsonl(*(task(n) for n in range(16)))
    Path("tasks.jsonl").write_bytes(tasks + b"this is not JSON\n")
    assert refused(*SCORE) == (2, "tasks.jsonl, line 17: not JSON: invalid character (byte 4)")


def test_blank_lines_marks_and_line_ends_are_fine(proctor: Proctor, files: Path) -> None:
    Path("tasks.jsonl").write_bytes(b"\xef\xbb\xbf" + TASKS.replace(b"\n", b"\r\n\r\n"))
    Path("s.jsonl").write_bytes(b"\xef\xbb\xbf\r\n" + SAMPLES.replace(b"\n", b"\r\n"))
    Path("proctor.toml").write_bytes(b"\xef\xbb\xbfworkers = 1\r\n")
    assert json.loads(proctor(*SCORE, "--json").out)["passed"] == 3


# Whole samples files, by the name they have

FILES: dict[str, tuple[str, bytes | None, str]] = {
    "missing": ("no.jsonl", None, "cannot read no.jsonl: No such file or directory"),
    "missing archive": ("no.jsonl.gz", None, "cannot read no.jsonl.gz: No such file or directory"),
    "empty": ("x.jsonl", b"", "recorded:x.jsonl: there are no completions in it"),
    "blank": ("x.jsonl", b"\n \n", "recorded:x.jsonl: there are no completions in it"),
    "empty array": ("x.json", b"[]", "recorded:x.json: there are no completions in it"),
    "a folder of other things": ("folder", None, "recorded:folder: there are no completions in it"),
    "a pipe": ("pipe", None, "cannot read pipe: it must be a file, which can be read twice"),
    "a device": ("/dev/zero", None, "cannot read /dev/zero: it must be a file, which can be read twice"),
    "a name too long": ("x" * 300, None, f"cannot read {'x' * 300}: File name too long"),
    "below a file": ("s.jsonl/x", None, "cannot read s.jsonl/x: Not a directory"),
    "escapes": (f"no{EVIL}.jsonl", None, f"cannot read no{SHOWN}.jsonl: No such file or directory"),
    "torn array": ("x.json", b'[{"task_id": "t/1"', "x.json, element 1: not JSON: the file ends before the array does"),
    "wrong element": ("x.json", json.dumps([sample(0), 3]).encode(), "x.json, element 2: it must be an object, not a whole number"),
    "two arrays": ("x.json", json.dumps([sample(0)]).encode() * 2, "x.json, element 2: not JSON: there is more behind the array"),
    "UTF-16": ("x.jsonl", SAMPLES.decode().encode("utf-16"), "cannot read x.jsonl: it is UTF-16; save it as UTF-8"),
    "torn archive": ("x.jsonl.gz", gzip.compress(SAMPLES)[:-12], "cannot read x.jsonl.gz: Compressed file ended before the end-of-stream marker was reached"),
    "torn zst": ("x.zst", zstd.compress(SAMPLES)[:-12], "cannot read x.zst: Compressed file ended before the end-of-stream marker was reached"),
    "no archive": ("x.gz", SAMPLES, """cannot read x.gz: Not a gzipped file (b'{"')"""),
    "garbage behind an archive": ("x.gz", gzip.compress(SAMPLES) + b"xx", "cannot read x.gz: Not a gzipped file (b'xx')"),
    "tasks left out": ("x.jsonl", jsonl(sample(1)), "recorded:x.jsonl: no completion for 2 of 3 tasks (t/0, t/2); --partial scores the others"),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize("mode", ["text", "json", "run"])
def test_samples_files(refused: Callable[..., Any], case: str, mode: str) -> None:
    name, content, said = FILES[case]
    if content is not None:
        Path(name).write_bytes(content)
    args: tuple[str, ...] = ("score", "tasks.jsonl", "--completions", name, "--out", "run")
    if mode == "run":
        args = ("run", "tasks.jsonl", "--model", f"recorded:{name}", "--out", "run")
    assert refused(*args, *(["--json"] if mode == "json" else [])) == (2, said)


def test_folders_of_programs(refused: Callable[..., Any]) -> None:
    args = ("score", "tasks.jsonl", "--completions", "folder")
    place = Path("folder/t_1")
    (place / "0.py").mkdir(parents=True)
    assert refused(*args) == (2, "cannot read folder/t_1/0.py: it is a folder")
    (place / "0.py").rmdir()
    (place / "0.py").write_bytes(b"x = '\xff'")
    assert refused(*args) == (2, "folder/t_1/0.py: not UTF-8: byte 0xff, invalid start byte")
    (place / "0.py").write_bytes(b"")
    with (place / "0.py").open("r+b") as file:
        file.truncate(100_000_000)
    assert refused(*args) == (2, "cannot read folder/t_1/0.py: it is longer than 64 MiB")
    (place / "0.py").unlink()
    (place / "0.py").symlink_to("0.py")
    assert refused(*args) == (2, "cannot read folder/t_1/0.py: Too many levels of symbolic links")


# Rows of tasks files, in line 2

TASK_ROWS: dict[str, tuple[Any, str]] = {
    "twice": (task(0), "tasks.jsonl, line 2: task_id 't/0' stands in line 1 already"),
    "escapes twice": (jsonl(task(7, task_id=EVIL)) * 2, f"tasks.jsonl, line 3: task_id '{SHOWN}' stands in line 2 already"),
    "empty id": (task(7, task_id=""), "tasks.jsonl, line 2: task_id is empty"),
    "half a letter": (task(7, task_id="\ud800"), "tasks.jsonl, line 2: task_id '\\ud800' is no text that UTF-8 can hold"),
    "id of no kind": (task(7, task_id=7), "tasks.jsonl, line 2: field task_id must be a string, not a whole number"),
    "no id": ({"tests": {}}, "tasks.jsonl, line 2: field tests.kind is missing"),
    "no tests": ({"task_id": "x"}, "tasks.jsonl, line 2: field tests is missing"),
    "unknown kind": (task(7, tests={"kind": EVIL}), f"tasks.jsonl, line 2: field tests.kind cannot be '{SHOWN}'"),
    "no targets": (task(7, tests={"kind": "assertions"}), "tasks.jsonl, line 2: field tests.targets is missing"),
    "empty targets": (task(7, tests={"kind": "assertions", "targets": []}), "tasks.jsonl, line 2: tests.targets is empty"),
    "odd target": (task(7, tests={"kind": "assertions", "targets": ["f(1", "f(2)"]}), "tasks.jsonl, line 2: tests.targets[0] is not a Python assertion or expression"),
    "target of no kind": (task(7, tests={"kind": "assertions", "targets": ["f(1)", 2]}), "tasks.jsonl, line 2: field tests.targets[1] must be a string, not a whole number"),
    "more outputs": (task(7, tests={"kind": "stdin", "inputs": ["1"], "outputs": ["1", "2"]}), "tasks.jsonl, line 2: tests has 1 inputs but 2 outputs"),
    "limit too long": (task(7, metadata={"timeout_s": 31}), "tasks.jsonl, line 2: metadata.timeout_s is 31; it must be above 0 and at most 30"),
    "limit of no kind": (task(7, metadata={"timeout_s": "3"}), "tasks.jsonl, line 2: field metadata.timeout_s must be a number or null, not a string"),
    "another language": (task(7, language="cobol"), "tasks.jsonl, line 2: language is 'cobol'; known are python, bash, c, cpp, go, java, javascript, rust, typescript"),
    "another schema": (task(7, schema=2), "tasks.jsonl, line 2: schema is 2; this version knows 1"),
    "another function": (task(7, entry_point="def"), "tasks.jsonl, line 2: entry_point: 'def' names no function"),
    "deep": (b'{"task_id": "x", "tests": {"kind": "calls", "fn_name": "f", "outputs": [1], "inputs": [' + b"[" * 99 + b"]" * 99 + b"]}}\n", "tasks.jsonl, line 2: nested more than 100 deep"),
}  # fmt: skip


@pytest.mark.parametrize("case", TASK_ROWS)
def test_rows_of_tasks(refused: Callable[..., Any], case: str) -> None:
    row, said = TASK_ROWS[case]
    Path("tasks.jsonl").write_bytes(jsonl(task(0)) + (row if type(row) is bytes else jsonl(row)))
    assert refused(*SCORE) == (2, said)
    assert refused("run", "tasks.jsonl", "--model", "reference", "--json") == (2, said)


# Everything else that is read: arguments, and what there is to say

KNOWN = "known are "
OTHERS: dict[str, tuple[str, str]] = {
    "no tasks": ("score no.jsonl --completions s.jsonl", "no.jsonl: no such benchmark or tasks file; known are …"),
    "a folder of tasks": ("score folder --completions s.jsonl", "folder: no tasks.toml in it, nor in a folder below it"),
    "a pipe of tasks": ("score pipe --completions s.jsonl", "cannot read pipe: it must be a file, which can be read twice"),
    "empty tasks": ("score empty --completions s.jsonl", "empty: there are no tasks in it"),
    "no data": ("score mbpp --completions s.jsonl --data no.jsonl", "cannot read no.jsonl: No such file or directory"),
    "other data": ("score mbpp --completions s.jsonl --data s.jsonl", "s.jsonl, line 1: field task_id must be a whole number, not a string"),
    "a folder without data": ("score mbpp --completions s.jsonl --data folder", "--data folder: there is no mbpp.jsonl in it"),
    "a pipe of data": ("score mbpp --completions s.jsonl --data pipe", "cannot read pipe: it must be a file, which can be read twice"),
    "data for a file": ("score tasks.jsonl --completions s.jsonl --data folder", "--data folder: tasks.jsonl is a file itself and needs no other"),
    "no reference": ("run no_reference.jsonl --model reference", "no_reference.jsonl: no canonical_solution in 1 of 1 tasks, the first of which is t/1"),
    "no field of verdicts": ("score tasks.jsonl --completions s.jsonl --against ok", "s.jsonl, line 1: field ok, which --against names, is missing, and it is no file"),
    "a folder of verdicts": ("score tasks.jsonl --completions s.jsonl --against folder", "s.jsonl, line 1: field folder, which --against names, is missing, and it is no file"),
    "odd verdicts": ("score tasks.jsonl --completions s.jsonl --against solution", "s.jsonl, line 1: field solution: 'def f(x): return x' is not a verdict"),
    "verdicts without a verdict": ("score tasks.jsonl --completions s.jsonl --against s.jsonl", "s.jsonl, line 1: none of the fields passed, is_solved, correct, accepted, base_status, status, result, outcome is there"),
    "no verdict on a sample": ("score tasks.jsonl --completions s.jsonl --against verdicts.jsonl", "--against verdicts.jsonl: no verdict on sample 0 of t/2"),
    "two verdicts": ("score tasks.jsonl --completions s.jsonl --against twice.jsonl", "twice.jsonl, line 2: field sample: 0 of t/0 has a verdict"),
    "no interpreter": ("score tasks.jsonl --completions s.jsonl --python /no/python", "/no/python is not a Python that can run candidates: No such file or directory"),
    "a folder for an interpreter": ("score tasks.jsonl --completions s.jsonl --python folder", "folder is not a Python that can run candidates: …"),
    "another program": ("exec good.py --python /bin/false", "/bin/false is not a Python that can run candidates: it ended with status 1"),
    "a silent program": ("exec good.py --python /bin/true", "/bin/true is not a Python that can run candidates: it does not describe itself"),
    "no package": ("exec good.py --candidate-packages nobody-has-this", "candidate_packages: nobody-has-this is not installed"),
    "a package with answers": ("exec good.py --candidate-packages proctor", "candidate_packages: proctor brings proctor, from which answers could be read"),
    "no name of a package": ("exec good.py --candidate-packages ../x", "--candidate-packages ../x: write it as numpy,pandas or none"),
    "no program": ("exec no.py", "cannot read no.py: No such file or directory"),
    "a folder for a program": ("exec folder", "cannot read folder: Is a directory"),
    "a program without end": ("exec /dev/zero", "cannot read /dev/zero: it is longer than 64 MiB"),
    "input without end": ("exec good.py --stdin /dev/zero", "cannot read /dev/zero: it is longer than 64 MiB"),
    "no input": ("exec good.py --stdin no.txt", "cannot read no.txt: No such file or directory"),
    "no text": ("exec binary", "cannot read binary: not UTF-8: byte 0xff, invalid start byte"),
    "no run": ("report no", "no is not a run directory: No such file or directory"),
    "a file for a run": ("report s.jsonl", "s.jsonl is not a run directory: Not a directory"),
    "a folder without a run": ("report folder", "folder is not a run directory: No such file or directory"),
    "out is a file": ("score tasks.jsonl --completions s.jsonl --out s.jsonl", "cannot use s.jsonl as a run directory: File exists"),
    "out is a pipe": ("score tasks.jsonl --completions s.jsonl --out pipe", "cannot use pipe as a run directory: File exists"),
    "out is below a file": ("score tasks.jsonl --completions s.jsonl --out s.jsonl/run", "cannot use s.jsonl/run as a run directory: Not a directory"),
    "out is not ours": ("score tasks.jsonl --completions s.jsonl --out .", ". holds files but no run; name another --out"),
    "out is not ours to empty": ("score tasks.jsonl --completions s.jsonl --out . --fresh", "--fresh: . holds files but no run, so it is left alone"),
    "nowhere to write": ("score tasks.jsonl --completions s.jsonl --out /proc/run", "cannot use /proc/run as a run directory: No such file or directory"),
    "no checker": ("score tasks.jsonl --completions s.jsonl --compare checker:no.py", "--compare checker:no.py: No such file or directory"),
    "nothing to convert": ("convert no --to samples --out new", "no is no run; say with --benchmark what its samples answer"),
    "a name too long to convert": (f"convert {'x' * 300} --to samples --out new", f"cannot read {'x' * 300}: File name too long"),
    "odd samples to convert": ("convert tasks.jsonl --to samples --out new --benchmark tasks.jsonl", "tasks.jsonl, line 1: there is neither a field completion nor a field solution"),
    "nowhere to convert to": ("convert s.jsonl --to samples --out folder --benchmark tasks.jsonl", "cannot write folder: Is a directory"),
    "too many workers": ("score tasks.jsonl --completions s.jsonl --workers 1025", "Invalid value for '--workers': …; see proctor score --help"),
}  # fmt: skip


@pytest.mark.parametrize("case", OTHERS)
def test_everything_else(refused: Callable[..., Any], case: str) -> None:
    args, said = OTHERS[case]
    Path("empty").touch()
    Path("binary").write_bytes(b"\xff")
    Path("no_reference.jsonl").write_bytes(jsonl(task(1, canonical_solution=None)))
    verdict = {"task_id": "t/0", "passed": True, "sample": 0}
    Path("verdicts.jsonl").write_bytes(jsonl(verdict, {**verdict, "task_id": "t/1"}))
    Path("twice.jsonl").write_bytes(jsonl(verdict, verdict))
    status, complaint = refused(*args.split())
    assert status == 2
    assert re.fullmatch(re.escape(said).replace("…", ".*"), complaint), complaint


# Settings

SETTINGS: dict[str, tuple[bytes, str]] = {
    "not TOML": (b"workers: 3", "c.toml: not TOML: Expected '=' after a key in a key/value pair (at line 1, column 8)"),
    "unknown": (b"wrokers = 3", "c.toml: field wrokers is not known"),
    "of no kind": (b"workers = 'many'", "c.toml: field workers must be a whole number, not a string"),
    "too few": (b"workers = 0", "c.toml: field workers must be a whole number >= 1"),
    "too many": (b"workers = 100000", "c.toml: field workers must be a whole number <= 1024"),
    "no number": (b"max_seconds = nan", "c.toml: field max_seconds must be a number > 0.0"),
    "no end": (b"max_seconds = inf", "c.toml: field max_seconds must be a number <= 86400.0"),
    "unknown word": (b"sandbox = '\\u001b[31m'".replace(b"'", b'"'), "c.toml: field sandbox cannot be '\\x1b[31m'"),
    "escapes": (b"sandbox = '\x1b[31m'", "c.toml: not TOML: Found invalid character '\\x1b' (at line 1, column 12)"),
    "not UTF-8": (b"data = '\xff'", "c.toml: not UTF-8: byte 0xff, invalid start byte"),
    "deep": (b"data = " + b"[" * 10_000, "c.toml: nested more than 100 deep"),
    "huge number": (b"workers = " + b"9" * 5000, "c.toml: not TOML: Exceeds the limit (4300 digits) for integer string conversion…"),
    "long": (b"#" * (2 << 20), "cannot read c.toml: it is longer than 1 MiB"),
    "package": (b"candidate_packages = ['nobody-has-this']", "candidate_packages: nobody-has-this is not installed"),
}  # fmt: skip


@pytest.mark.parametrize("case", SETTINGS)
def test_settings(refused: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    content, said = SETTINGS[case]
    Path("c.toml").write_bytes(content)
    monkeypatch.setenv("PROCTOR_CONFIG", "c.toml")
    status, complaint = refused(*SCORE)
    assert status == 2
    assert re.fullmatch(re.escape(said).replace("…", ".*"), complaint), complaint


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no.toml", "cannot read no.toml: No such file or directory"),
        ("folder", "cannot read folder: it is a folder"),
        ("pipe", "cannot read pipe: it must be a file, which can be read twice"),
        ("/dev/zero", "cannot read /dev/zero: it must be a file, which can be read twice"),
    ],
)
def test_no_settings(
    refused: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.setenv("PROCTOR_CONFIG", name)
    assert refused(*SCORE) == (2, said)


# A run directory that was damaged or edited: what is wrong with it, when going on and in a report

RECEIPTS, COMPLETIONS, MANIFEST = (
    Path("run", name) for name in ("receipts.jsonl", "completions.jsonl", "manifest.json")
)


def swap(path: Path, old: bytes, new: bytes, count: int = 1) -> Callable[[], object]:
    return lambda: path.write_bytes(path.read_bytes().replace(old, new, count))


def no_file(path: Path, make: Callable[[Path], object]) -> Callable[[], object]:
    def change() -> None:
        path.unlink()
        make(path)

    return change


def again() -> None:
    RECEIPTS.write_bytes(RECEIPTS.read_bytes() + RECEIPTS.read_bytes().splitlines(True)[0])


DAMAGE: dict[str, tuple[Callable[[], object], str]] = {
    "a receipt twice": (again, f"run/receipts.jsonl, line 4: sample 0 of 't/0' has a line already; {TAKE_OUT}"),
    "no such sample": (swap(RECEIPTS, b'"sample":0', b'"sample":7'), f"run/receipts.jsonl, line 1: the run has no sample 7 of 't/0'; {TAKE_OUT}"),
    "huge sample": (swap(RECEIPTS, b'"sample":0', b'"sample":268435455'), f"run/receipts.jsonl, line 1: the run has no sample 268435455 of 't/0'; {TAKE_OUT}"),
    "sample below nothing": (swap(RECEIPTS, b'"sample":0', b'"sample":-1'), f"run/receipts.jsonl, line 1: the run has no sample -1 of 't/0'; {TAKE_OUT}"),
    "sample of no kind": (swap(RECEIPTS, b'"sample":0', b'"sample":"0"'), f"run/receipts.jsonl, line 1: field sample must be a whole number, not a string; {TAKE_OUT}"),
    "unknown bucket": (swap(RECEIPTS, b'"bucket":"passed"', b'"bucket":"\\u001b[31m"'), f"run/receipts.jsonl, line 1: field bucket cannot be '\\x1b[31m'; {TAKE_OUT}"),
    "another outcome": (swap(RECEIPTS, b'"outcome":"pass"', b'"outcome":"timeout"'), f"run/receipts.jsonl, line 1: outcome timeout does not go with bucket passed; {TAKE_OUT}"),
    "garbage": (swap(RECEIPTS, b"\n", b"\n\x00garbage\n"), f"run/receipts.jsonl, line 2: not JSON: invalid character (byte 0); {TAKE_OUT}"),
    "a blank line": (swap(RECEIPTS, b"\n", b"\n\n"), f"run/receipts.jsonl, line 2: not JSON: Input data was truncated; {TAKE_OUT}"),
    "a byte order mark": (swap(RECEIPTS, b"{", b"\xef\xbb\xbf{"), f"run/receipts.jsonl, line 1: not JSON: invalid character (byte 0); {TAKE_OUT}"),
    "not UTF-8": (swap(RECEIPTS, b'"t/0"', b'"t\xff0"'), f"run/receipts.jsonl, line 1: not UTF-8: byte 0xff, invalid start byte; {TAKE_OUT}"),
    "deep": (swap(RECEIPTS, b"{", b'{"x":' + b"[" * 9999), f"run/receipts.jsonl, line 1: nested more than 100 deep; {TAKE_OUT}"),
    "receipts are a folder": (no_file(RECEIPTS, Path.mkdir), "cannot write run/receipts.jsonl: it is not a file; make it writable, or name another --out | cannot read run/receipts.jsonl: it is a folder"),
    "receipts are a pipe": (no_file(RECEIPTS, os.mkfifo), "cannot write run/receipts.jsonl: it is not a file; make it writable, or name another --out | cannot read run/receipts.jsonl: it must be a file, which can be read twice"),
    "empty manifest": (lambda: MANIFEST.write_bytes(b""), "run/manifest.json is not the manifest of a run: not JSON: Input data was truncated"),
    "field of no kind": (swap(MANIFEST, b'"samples": 3', b'"samples": "3"'), "run/manifest.json is not the manifest of a run: field samples must be a whole number, not a string"),
    "another schema": (swap(MANIFEST, b'"schema": 1', b'"schema": 2'), "run/manifest.json: field schema is 2; this version knows 1"),
    "manifest is a pipe": (no_file(MANIFEST, os.mkfifo), "cannot read run/manifest.json: it must be a file, which can be read twice"),
    "manifest is endless": (no_file(MANIFEST, lambda path: path.symlink_to("/dev/zero")), "cannot read run/manifest.json: it must be a file, which can be read twice"),
    "no manifest": (MANIFEST.unlink, "run holds files but no run; name another --out | run is not a run directory: No such file or directory"),
}  # fmt: skip


@pytest.fixture
def finished(proctor: Proctor, files: Path) -> None:
    assert proctor(*SCORE, "--workers", "1").status == 0
    Path("run/report.json").unlink()  # it is made anew


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_run(finished: None, refused: Callable[..., Any], case: str) -> None:
    change, said = DAMAGE[case]
    change()
    going_on, _, report = said.partition(" | ")
    assert refused(*SCORE) == (2, going_on)
    assert refused("report", "run") == (2, report or going_on)
    assert refused("report", "run", "--json") == (2, report or going_on)


def test_damaged_completions(finished: None, refused: Callable[..., Any]) -> None:
    COMPLETIONS.write_bytes(COMPLETIONS.read_bytes().replace(b'"t/1"', b'"t/9"'))
    said = f"run/completions.jsonl, line 2: the run has no sample 0 of 't/9'; {TAKE_OUT}"
    assert refused(*SCORE) == (2, said)


@pytest.mark.parametrize("path", [RECEIPTS, COMPLETIONS], ids=lambda path: path.stem)
def test_what_was_torn_or_taken_out_is_made_anew(
    finished: None, proctor: Proctor, path: Path
) -> None:
    whole = sorted(path.read_bytes().splitlines())
    for change in (
        lambda: path.write_bytes(path.read_bytes()[:-20]),
        lambda: path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:])),
        lambda: path.write_bytes(path.read_bytes() + b"\0" * 100_000),
        lambda: path.write_bytes(b""),
        path.unlink,
    ):
        change()
        found = json.loads(proctor(*SCORE, "--json").out)
        assert (found["samples"], found["passed"], found["degraded"]) == (3, 3, False)
        ids = [json.loads(line)["task_id"] for line in path.read_bytes().splitlines()]
        assert sorted(ids) == ["t/0", "t/1", "t/2"]
    if path == COMPLETIONS:
        assert sorted(path.read_bytes().splitlines()) == whole


@pytest.mark.parametrize(
    ("flags", "field"),
    [
        (["--preamble", "base"], "preamble is 'none', not 'base'"),
        (["--timeout", "2"], "limits is None, not {'cpu_seconds': 2.0, …"),
        (["--early-stop"], "early_stop is False, not True"),
        (["--seed", "3"], "sampling.seed is 0, not 3"),
        (["--candidate-packages", "none"], "enforcement.packages is …"),
        (["--sandbox", "portable"], "enforcement.tier is …, not 'portable'"),
    ],
)
def test_an_out_that_belongs_to_another_run(
    finished: None, refused: Callable[..., Any], flags: list[str], field: str
) -> None:
    status, complaint = refused(*SCORE, *flags)
    if "belongs" not in complaint:
        pytest.skip("that is how the run was made on this machine")
    said = (
        f"run belongs to another run: its {field}; name another --out, or start over with --fresh"
    )
    assert status == 2
    assert re.fullmatch(re.escape(said).replace("…", ".*"), complaint), complaint


def test_an_out_with_other_samples_or_tasks(finished: None, refused: Callable[..., Any]) -> None:
    Path("s.jsonl").write_bytes(SAMPLES.replace(b"return x", b"return  x"))
    status, complaint = refused(*SCORE)
    assert (status, "its completions_sha256 is '" in complaint) == (2, True)
    Path("tasks.jsonl").write_bytes(TASKS.replace(b"f(1) == 1", b"f(2) == 2"))
    status, complaint = refused(*SCORE)
    assert (status, "its benchmark_sha256 is '" in complaint) == (2, True)


# A reference that fails


def test_a_reference_that_fails_its_own_tests(proctor: Proctor, files: Path) -> None:
    """Nobody's answer can be wrong by such a task; what it says about others is kept."""
    bad = task(1, canonical_solution=f"def f(x): raise ValueError({EVIL!r})")
    Path("tasks.jsonl").write_bytes(jsonl(task(0), bad, task(2)))
    Path("s.jsonl").write_bytes(
        jsonl(sample(0), sample(1, solution="def f(x): return 7"), sample(2), sample(1))
    )
    ran = proctor(*SCORE, "--json")
    found = json.loads(ran.out)
    assert (ran.status, found["passed"], found["unscored"], found["degraded"]) == (1, 3, 1, True)
    why = f"canonical_solution fails the task's own tests (test_exception: ValueError: {SHOWN} (line 1))"
    assert ran.complaint == f"tasks.jsonl, line 2: {why}; its samples are unscored"
    text = proctor("report", "run").out
    assert f"    t/1: {why}\n" in text


def test_arguments_that_cannot_be_sent(proctor: Proctor, files: Path) -> None:
    """One such task does not end the run."""
    calls = {"kind": "calls", "fn_name": "f", "inputs": [[[0] * 1_000_001]], "outputs": [1]}
    Path("tasks.jsonl").write_bytes(jsonl(task(0), task(1, tests=calls), task(2)))
    ran = proctor(*SCORE, "--json")
    found = json.loads(ran.out)
    assert (ran.status, found["passed"], found["unscored"]) == (1, 2, 1)
    assert ran.complaint == (
        "tasks.jsonl, line 2: what test 0 passes to a candidate cannot be sent: "
        "more than 1000000 values in one message; its samples are unscored"
    )


# A host that gives out: real processes


def process(*args: object, code: str = "", **how: Any) -> subprocess.CompletedProcess[str]:
    start = ["-c", code] if code else ["-m", "proctor"]
    command = [sys.executable, *start, *map(str, args)]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120, **how}
    return subprocess.run(command, text=True, check=False, **how)


LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_{}, ({}, {}))
from proctor.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.json", "x.json.gz"])
def test_a_line_of_100_mb(files: Path, name: str) -> None:
    """It is refused in little memory, packed or not."""
    array = ".json" in Path(name).suffixes
    code = LIMITED.format("AS", 1 << 30, 1 << 30)
    for first, args in (
        (sample(0), ("tasks.jsonl", "--completions", name)),
        (task(0), (name, "--completions", "s.jsonl", "--json")),
    ):
        start = json.dumps(first).encode()
        with gzip.open(name, "wb", 1) if name.endswith(".gz") else Path(name).open("wb") as file:
            file.write(b"[" + start + b"," if array else start + b"\n")
            file.write(b'{"task_id": "')
            file.writelines([b"x" * 1_000_000] * 100)
        ran = process("score", *args, code=code)
        unit = "element" if array else "line"
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr == f"proctor: {name}, {unit} 2: longer than 64 MiB\n"


@pytest.mark.parametrize("flags", [[], ["--json"]])
@pytest.mark.parametrize(
    "command",
    [
        SCORE,
        pytest.param(("report", "run"), marks=pytest.mark.slow),
        pytest.param(("benchmarks",), marks=pytest.mark.slow),
    ],
)
def test_output_that_nobody_takes(
    finished: None, command: tuple[str, ...], flags: list[str]
) -> None:
    with Path("/dev/full").open("w") as full:
        ran = process(*command, *flags, stdout=full)
        said = "proctor: cannot go on: No space left on device; what was graded is kept\n"
        assert (ran.returncode, ran.stderr) == (3, said)
        assert process(*command, *flags, stderr=full).returncode == 0
        assert process("report", "nowhere", stderr=full).returncode == 2
    reading, writing = os.pipe()
    os.close(reading)
    ran = process(*command, *flags, stdout=writing)
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (3, ""), "as after `| head`: quiet, but not well"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_not_there(files: Path, closed: str) -> None:
    """No file of the run is taken for one of them."""
    line = f'"{sys.executable}" -m proctor {" ".join(SCORE)} --json {closed}'
    ran = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (ran.stdout == "") is (">&- " in f"{closed} ".replace("2>&-", ""))
    for path in (RECEIPTS, COMPLETIONS):
        assert [json.loads(text)["sample"] for text in path.read_text().splitlines()] == [0, 0, 0]
    line = f'"{sys.executable}" -m proctor report nowhere --json {closed}'
    ran = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")


@pytest.mark.parametrize("limit", [("NOFILE", 8), ("NOFILE", 12), ("FSIZE", 0), ("FSIZE", 1000)])
def test_limits_of_the_system(files: Path, limit: tuple[str, int]) -> None:
    """No descriptors, no room: who cannot begin says so, and blames nobody."""
    name, value = limit
    code = LIMITED.format(name, value, resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1])
    ran = process(*SCORE, "--json", code=code)
    assert ran.returncode in (1, 3)
    assert "Traceback" not in ran.stderr
    assert "defect" not in ran.stderr
    if ran.returncode == 1:
        found = json.loads(ran.stdout)
        assert found["unscored"] > 0
        assert found["outcomes"]["error"] == found["outcomes"]["assertion_fail"] == 0
    else:
        assert ran.stdout == ""


# A full disk, which only root may have

DISK = """
import os, subprocess, sys
from proctor.sandbox.inside.isolation import libc
libc.unshare(libc.NEWNS)
libc.mount(None, "/", None, libc.RECURSIVE | libc.PRIVATE)
os.mkdir("disk")
libc.mount("disk", "disk", "tmpfs", 0, "size=" + sys.argv[1])
for _ in range(2):
    ran = subprocess.run([sys.executable, "-m", "proctor", *sys.argv[3:]], capture_output=True)
    left = [(folder, sorted(files)) for folder, _, files in os.walk("disk")]
    print([ran.returncode, ran.stdout.decode(), ran.stderr.decode(), left])
    libc.mount(None, "disk", None, libc.REMOUNT | int(sys.argv[2]), "size=64m")
for name in ("receipts", "completions"):
    print(open(f"disk/run/{name}.jsonl").read())
"""


def on_a_disk(size: str, *args: str, flags: int = 0) -> list[str]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    ran = process(size, flags, *args, code=DISK)
    return ran.stdout.split("\n") if ran.returncode == 0 else pytest.fail(ran.stderr)


@pytest.mark.parametrize(
    "size", ["16k", *(pytest.param(size, marks=pytest.mark.slow) for size in ("4k", "48k", "160k"))]
)
def test_a_full_disk(files: Path, size: str) -> None:
    """What was graded before it was full is kept, and the same command goes on when there is room."""
    rows = [
        sample(n, solution=f"def f(x): return x # {'x' * 900} {s}")
        for n in range(3)
        for s in range(40)
    ]
    Path("s.jsonl").write_bytes(jsonl(*rows))
    args = (*SCORE[:-1], "disk/run", "--json", "--no-reuse")
    first, second, *rest = on_a_disk(size, *args)
    status, out, err, left = eval(first)
    assert (status, out) == (3, "")
    why = "No space left on device; what was graded is kept, and the same command without --fresh goes on from there"
    assert re.fullmatch(rf"proctor: cannot write disk/run/\w+\.jsonl?: {why}\n", err)
    names = [name for _, files in left for name in files]
    assert not [name for name in names if name.endswith(".new") or name == "report.json"]
    assert ("manifest.json" in names) or left == [("disk", [])]
    status, out, err, _ = eval(second)
    assert (status, err, json.loads(out)["samples"], json.loads(out)["passed"]) == (0, "", 120, 120)
    lines = [json.loads(line) for line in rest if line]
    keys = [(one["task_id"], one["sample"]) for one in lines]
    assert len(keys) == 240
    assert len(set(keys)) == 120


READ_ONLY = 1


@pytest.mark.slow
def test_a_disk_that_cannot_be_written(files: Path) -> None:
    first, second, *_ = on_a_disk("64m", *SCORE[:-1], "disk/run", flags=READ_ONLY)
    assert eval(first)[0] == 0
    status, out, err, left = eval(second)
    assert (status, out) == (2, "")
    assert err == ("proctor: cannot use disk/run as a run directory: Read-only file system\n"), (
        "nor can its report be made anew"
    )
    assert left[1][1] == ["completions.jsonl", "manifest.json", "receipts.jsonl", "report.json"]
