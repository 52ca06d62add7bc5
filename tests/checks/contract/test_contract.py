"""Every defect that is planted on purpose breaks the line that is about it, and no other."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from proctor.benchmarks import load
from proctor.checks.contract import LINES, examine, inspect_rows
from proctor.checks.contract.evidence import Contract, contract_subject
from proctor.checks.contract.result import PARTIAL, Result, Status
from proctor.checks.contract.result_store import latest_result, store_result
from proctor.errors import InputError
from proctor.judge.judgement import Judgement
from proctor.languages import get_language
from proctor.records.verdict import Unscored
from proctor.sandbox import Sandbox
from tests.requires import requires_language

Rows = list[dict[str, Any]]
Make = Callable[..., str]
Examine = Callable[..., Contract]
SLOW = {"order", "hidden"}
"""Lines that take seconds; they are looked at where they are meant."""
BUSY = "    import time\n    while time.process_time() < {}: pass\n    return a + b\n"


class Defect(NamedTuple):
    """What is wrong with the first task, or with all rows."""

    change: dict[str, Any] | Callable[[Rows], Rows]
    line: str
    says: str


def stdin(solution: str) -> dict[str, Any]:
    tests = {"kind": "stdin", "inputs": ["1\n", "2\n"], "outputs": ["1a\n", "2a\n"]}
    return {"tests": tests, "canonical_solution": solution, "wrong_solutions": [], "prompt": "Go."}


def constant(what: str) -> dict[str, Any]:
    return {"tests": {"kind": "assertions", "targets": [f"add(1, 2) == {what}"]}, "wrong_solutions": [],
            "canonical_solution": f"    return {what}\n"}  # fmt: skip


DEFECTS = {
    "a kind of tests that there is not": Defect({"tests": {"kind": "magic"}}, "schema", "1 of 3 rows cannot be used"),
    "a limit that is too long": Defect({"metadata": {"timeout_s": 99}}, "schema", "metadata.timeout_s is 99"),
    "a language that there is not": Defect({"language": "cobol"}, "schema", "language is 'cobol'"),
    "no tests": Defect({"tests": {"kind": "assertions", "targets": []}}, "schema", "tests.targets is empty"),
    "no tasks": Defect(lambda _: [], "tasks", "there are no tasks in it"),
    "an id twice": Defect(lambda rows: [*rows, rows[0]], "ids", "the first of which is demo/add"),
    "a wrong reference": Defect({"canonical_solution": "    return a - b\n"}, "references", "demo/add: its reference fails: wrong_answer"),
    "a reference that raises": Defect({"canonical_solution": "    return a + c\n"}, "references", "test_exception (NameError"),
    "no reference": Defect({"canonical_solution": None}, "references", "demo/add: it has no reference"),
    "a wrong test": Defect({"tests": {"kind": "assertions", "targets": ["add(1, 2) == 4"]}}, "references", "its reference fails"),
    "a slow reference": Defect({"canonical_solution": BUSY.format(0.7), "metadata": {"timeout_s": 1}}, "time", "demo/add: its reference takes"),
    "a wrong solution that passes": Defect({"wrong_solutions": [{"name": "same", "code": "def add(a, b): return b + a\n"}]}, "wrong", "its wrong solution 'same' passes"),
    "a wrong solution that fails otherwise": Defect({"wrong_solutions": [{"name": "odd", "code": "def add(a, b): return c\n"}]}, "wrong", "'odd' ends as test_exception"),
    "tests that a constant passes": Defect(constant("True"), "lazy", "demo/add: return True passes its only test"),
    "tests that nothing passes, too": Defect(constant("None"), "lazy", "pass passes its only test"),
    "tests that an echo passes": Defect({**stdin("print(input())\n"), "tests": {"kind": "stdin", "inputs": ["a\n"], "outputs": ["a\n"]}}, "lazy", "echo passes its only test"),
    "a tag in the reference": Defect(stdin("print(input(), end='')\n# </code> </answer>\nprint('a')\n"), "wrappers", "demo/add"),
    "output that is another one every time": Defect({"canonical_solution": "    import random\n    print(random.random())\n    return a + b\n"}, "reuse", "has another stdout when it is not run again"),
}  # fmt: skip


@pytest.mark.parametrize("via", ["file", "package"])
@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_breaks_its_line_and_no_other(
    name: str, via: str, rows: Rows, file_with: Make, package_with: Make, examination: Examine
) -> None:
    defect = DEFECTS[name]
    if callable(defect.change):
        rows = defect.change(rows)
    else:
        rows[0] |= defect.change
    exam = examination(file_with(rows) if via == "file" else package_with(rows))
    result = examine(exam, [line for line in LINES if line not in SLOW])
    broken = {one.line: one for one in result.findings if one.word is Status.BROKEN}
    assert set(broken) == {defect.line}
    assert defect.says in broken[defect.line].evidence
    assert (result.holds, result.in_rotation) == (False, False)
    assert result.reason.startswith(f"{defect.line}: ") or not exam.facts.is_fit


def test_a_benchmark_that_keeps_its_contract(
    rows: Rows, file_with: Make, examination: Examine
) -> None:
    name = file_with(rows)
    Path("demo.contract.toml").write_text("[difficulty]\neasy = [0.5, 0.8]\nhard = [0.2, 0.5]\n")
    result = examine(examination(name))
    assert [one.line for one in result.findings] == list(LINES)
    words = {one.line: one.word for one in result.findings}
    tier = result.enforcement
    expected = Status.HELD if tier.isolated else Status.UNKNOWN
    assert words.pop("hidden") is expected, result.findings
    assert words.pop("braces") is Status.DOES_NOT_APPLY
    assert set(words.values()) == {Status.HELD}, result.findings
    assert result.in_rotation is tier.isolated
    benchmark = load(name)
    assert (result.benchmark, result.benchmark_sha256) == ("demo", benchmark.sha256)
    assert (result.tasks, result.of, result.partial) == (3, 3, False)
    check_that_it_is_kept(result, name)


def check_that_it_is_kept(result: Result, name: str) -> None:
    benchmark = load(name)
    path = store_result(result)
    assert path is not None
    assert path.is_file()
    assert latest_result(benchmark) == result
    assert latest_result(benchmark.first(1)) is None
    long_ago = datetime.now(UTC) - timedelta(days=9)
    store_result(msgspec.structs.replace(result, created=long_ago.isoformat()))
    assert latest_result(benchmark, timedelta(days=10)) is not None
    assert latest_result(benchmark, timedelta(days=8)) is None


def test_flaky_references_are_named(rows: Rows, file_with: Make, examination: Examine) -> None:
    rows[0]["tests"]["targets"] = [f"add({n}, 1) == {n + 1}" for n in range(20)]
    rows[0]["canonical_solution"] = "    import random\n    return a + b + random.choice([0, 1])\n"
    found = inspect_rows(examination(file_with(rows)), "stable")
    assert (found.word, found.tasks) == (Status.BROKEN, ["demo/add"])
    assert "its reference flakes: wrong_answer" in found.evidence


def test_what_cannot_be_judged_here_proves_nothing(
    rows: Rows, file_with: Make, examination: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    exam = examination(file_with(rows))

    def judge(*_: Any) -> Judgement:
        return Judgement(verdict=Unscored(reason="there is no room"))

    monkeypatch.setattr("proctor.judge.judge.Judge.judge", judge)
    words = {name: inspect_rows(exam, name).word for name in LINES if name != "order"}
    unknown = {name for name, word in words.items() if word is Status.UNKNOWN}
    assert {
        "references",
        "stable",
        "time",
        "wrong",
        "lazy",
        "hidden",
        "reuse",
        "folders",
    } == unknown
    assert "3 tasks could not be judged here: demo/add: there is no room" in (
        inspect_rows(exam, "stable").evidence
    )
    assert Status.BROKEN not in words.values()


def test_what_depends_on_the_hash_seed_has_no_order(
    rows: Rows, package_with: Make, examination: Examine
) -> None:
    reader = (
        "import msgspec\nfrom proctor.benchmarks import tasks_file\n"
        "def read(line):\n    task = tasks_file.read(line)\n"
        "    prompt = str({'one', 'two', 'three', 'four', 'five'})\n"
        "    return msgspec.structs.replace(task, prompt=prompt)\n"
    )
    found = inspect_rows(examination(package_with(rows, reader)), "order")
    assert found.word is Status.BROKEN
    assert "3 tasks have another content in a process with hash seed" in found.evidence


@pytest.mark.parametrize(
    ("reader", "says"),
    [
        ("def read(line):\n    return {}['x']\n", "the reader of theirs fails: KeyError: 'x'"),
        ("def read(line):\n    return 7\n", "makes a int of it, not a Task"),
        (
            (
                "from proctor.benchmarks import tasks_file\nimport msgspec\ndef read(line):\n"
                "    return msgspec.structs.replace(tasks_file.read(line), prompt=7)\n"
            ),
            "field prompt must be a string, not a whole number",
        ),
    ],
)
def test_a_reader_that_is_wrong(
    reader: str, says: str, rows: Rows, package_with: Make, examination: Examine
) -> None:
    exam = examination(package_with(rows, reader))
    found = inspect_rows(exam, "schema")
    assert found.word is Status.BROKEN
    assert says in found.evidence
    assert "demo.jsonl, line 1: " in found.evidence
    assert inspect_rows(exam, "references").word is Status.UNKNOWN


def test_text_of_a_test_that_is_in_sight(rows: Rows, file_with: Make, examination: Examine) -> None:
    rows[1]["preamble"] = "EXPECTED = ['THE QUICK BROWN FOX!']"
    rows[1]["tests"]["kind"] = "calls"
    rows[0]["preamble"] = "TESTS = 'add(-4, 4) == 0'"
    exam = examination(file_with(rows))
    if not exam.sandbox.enforcement().isolated:
        pytest.skip("no tier of this machine hides anything")
    found = inspect_rows(exam, "hidden")
    assert (found.word, list(found.tasks)) == (Status.BROKEN, ["demo/add", "demo/shout"])
    assert "demo/add: 'add(-4, 4) == 0' can be read in its preamble" in found.evidence


def test_a_probe_finds_what_is_in_its_memory(
    rows: Rows, file_with: Make, examination: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text that only runs together in memory, so that nobody can read it in the preamble."""
    rows[1]["preamble"] = "EXPECTED = ['THE QUICK ' + word for word in ['BROWN FOX!']]"
    exam = examination(file_with(rows[1:2]))
    if not exam.sandbox.enforcement().isolated:
        pytest.skip("no tier of this machine hides anything")
    found = inspect_rows(exam, "hidden")
    assert (found.word, list(found.tasks)) == (Status.BROKEN, ["demo/shout"])
    assert "'THE QUICK BROWN FOX!' can be read in " in found.evidence
    assert "while it was loaded" in found.evidence
    blind = 'def look(when):\n    print(MARK + \'{"found": [], "files": 1, "memory": 1}\', file=__import__(\'sys\').stderr)\n'
    monkeypatch.setattr("proctor.checks.contract.leaks._without_head", lambda _: blind)
    found = inspect_rows(examination(file_with(rows[2:])), "hidden")
    assert found.word is Status.UNKNOWN
    assert "the probe does not even find what it holds itself" in found.evidence


def test_what_is_judged_together_is_not_hidden_and_says_so(
    rows: Rows, file_with: Make, examination: Examine
) -> None:
    code = "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(add(1, 2), 3)\n"
    rows[0] |= {"tests": {"kind": "unittest", "code": code}, "wrong_solutions": []}
    exam = examination(file_with(rows[:1]))
    if not exam.sandbox.enforcement().isolated:
        pytest.skip("no tier of this machine hides anything")
    found = inspect_rows(exam, "hidden")
    assert found.word is Status.DOES_NOT_APPLY
    assert "1 tasks are judged together with their tests, in sight" in found.evidence


@pytest.mark.parametrize(
    ("bands", "says"),
    [
        ("easy = [0.9, 1.0]\nhard = [0, 0.5]", "easy is 67% of 3 tasks, declared 90% to 100%"),
        ("easy = [0.5, 1.0]", "1 tasks have a difficulty that is not declared: demo/double"),
    ],
)
def test_difficulties_outside_their_bands(
    bands: str, says: str, rows: Rows, file_with: Make, examination: Examine
) -> None:
    name = file_with(rows)
    Path("demo.contract.toml").write_text(f"[difficulty]\n{bands}\n")
    found = inspect_rows(examination(name), "difficulty")
    assert (found.word, found.evidence) == (Status.BROKEN, says)


def test_a_package_declares_bands(rows: Rows, package_with: Make, examination: Examine) -> None:
    reader = "from proctor.benchmarks import Declaration\nfrom proctor.benchmarks.tasks_file import read\n"
    name = package_with(rows, reader, ", declares=Declaration(difficulty={'easy': (0, 0.1)})")
    assert inspect_rows(examination(name), "difficulty").word is Status.BROKEN


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[difficulty]\neasy = [0.9, 0.1]", "difficulty.easy must be two shares from 0 to 1"),
        ("[difficulty]\neasy = 1", "demo.contract.toml: a field must be an array"),
        ("[bands]\n", "demo.contract.toml: field bands is not known"),
        ("[", "demo.contract.toml: not TOML"),
    ],
)
def test_a_declaration_that_is_none(
    text: str, says: str, rows: Rows, file_with: Make, examination: Examine
) -> None:
    name = file_with(rows)
    Path("demo.contract.toml").write_text(text)
    with pytest.raises(InputError) as refused:
        examination(name)
    assert says in str(refused.value)


def test_wrong_references_that_the_benchmark_knows_are_named_and_do_not_count(
    rows: Rows, file_with: Make, examination: Examine
) -> None:
    rows[0]["canonical_solution"] = "    return a - b\n"
    name = file_with(rows)
    Path("demo.contract.toml").write_text("[known.references]\n'demo/add' = 'a slip of the pen'\n")
    found = inspect_rows(examination(name), "references")
    assert (found.word, found.known) == (Status.HELD, {"demo/add": "a slip of the pen"})
    assert found.evidence.endswith("; known to the benchmark: demo/add")


def test_a_part_is_not_enough(rows: Rows, file_with: Make, examination: Examine) -> None:
    result = examine(examination(file_with(rows), first=1), ["schema", "references"])
    assert (result.holds, result.partial, result.in_rotation) == (True, True, False)
    assert (result.tasks, result.of, result.reason) == (1, 3, PARTIAL)
    assert store_result(result) is None
    assert latest_result(load("demo.jsonl")) is None


def test_an_empty_answer_that_is_taken_for_code(
    rows: Rows, file_with: Make, examination: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    exam = examination(file_with(rows[2:]))
    assert inspect_rows(exam, "empty").word is Status.HELD
    monkeypatch.setattr("proctor.checks.contract.rejection.EMPTY", {"nothing": "x = 1\n"})
    assert "nothing ends as wrong_answer" in inspect_rows(exam, "empty").evidence


def test_figures_that_are_wrong(
    rows: Rows, file_with: Make, examination: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    exam = examination(file_with(rows))
    monkeypatch.setattr("proctor.checks.contract.scoring.pass_at_k", lambda n, c, k: c / n)
    found = inspect_rows(exam, "pass@k")
    assert (found.word, found.evidence) == (Status.BROKEN, "pass@2 of 1 in 2 is 0.5, not 1")


def test_runs_that_share_a_folder(
    rows: Rows, file_with: Make, examination: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from proctor.checks.contract import scoring

    evaluate = scoring.evaluate
    shared = Path("shared")
    monkeypatch.setattr(scoring, "evaluate", lambda plan, box, out: evaluate(plan, box, shared))
    found = inspect_rows(examination(file_with(rows)), "folders")
    assert found.word is Status.BROKEN


def test_a_fence_that_swallows_code(
    rows: Rows, file_with: Make, examination: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No reference that is found in plain text was seen to be lost between fences."""
    exam = examination(file_with(rows))
    assert inspect_rows(exam, "fences").word is Status.HELD
    half = {"half a fence": lambda _, code: f"```python\n{code[:-6]}\n```\n"}
    monkeypatch.setattr("proctor.checks.contract.extraction.FENCES", half)
    found = inspect_rows(exam, "fences")
    assert found.word is Status.BROKEN
    assert "half a fence" in found.evidence


@pytest.mark.parametrize("language", ["bash", "javascript"])
def test_a_probe_in_another_language(language: str, file_with: Make, examination: Examine) -> None:
    code = {
        "bash": "read -r number\necho ${number}a # as asked\n",
        "javascript": "console.log(require('fs').readFileSync(0, 'utf8').trim() + 'a');\n",
    }
    row = {
        "task_id": "demo/other",
        "language": language,
        "tests": {"kind": "stdin", "inputs": ["1\n"], "outputs": ["1a\n"]},
        "canonical_solution": code[language],
    }
    exam = examination(file_with([row]))
    requires_language(exam.sandbox, language)
    assert inspect_rows(exam, "references").word is Status.HELD
    found = inspect_rows(exam, "hidden")
    assert found.word is Status.HELD, found
    assert found.evidence.startswith("a probe of 1 tasks found none of")
    mark = {"bash": "#", "javascript": "//"}[language]
    told = {**row, "preamble": f"{mark} {code[language].splitlines()[-1]}"}
    found = inspect_rows(examination(file_with([told])), "hidden")
    assert (found.word, found.tasks) == (Status.BROKEN, ["demo/other"])


def test_a_brace_that_no_scanner_sees(
    file_with: Make, examination: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "    int sum = a + b;\n#if 0\n    {\n#endif\n    return sum;\n}\n"
    row = {
        "task_id": "demo/cpp",
        "language": "cpp",
        "prompt": "int add(int a, int b) {\n",
        "tests": {"kind": "program", "code": "#include <assert.h>\nint main() { assert(add(1, 2) == 3); }"},
        "canonical_solution": body.replace("#if 0\n    {\n#endif\n", ""),
    }  # fmt: skip
    exam = examination(file_with([row]))
    requires_language(exam.sandbox, "cpp")
    assert inspect_rows(exam, "references").word is Status.HELD
    assert inspect_rows(exam, "braces").word is Status.HELD
    assert inspect_rows(exam, "hidden").word is Status.DOES_NOT_APPLY
    spoilt = examination(file_with([{**row, "canonical_solution": body}]))
    assert inspect_rows(spoilt, "references").word is Status.BROKEN
    cpp = get_language("cpp")
    lexer = msgspec.structs.replace(cpp.lexer, example="int f() {}")
    monkeypatch.setattr(
        "proctor.checks.contract.extraction.get_language",
        lambda name: msgspec.structs.replace(cpp, lexer=lexer),
    )
    assert inspect_rows(exam, "braces").evidence == "cpp: depth 0, not 1, behind 'int f() {}'"


def test_our_own_benchmark_keeps_its_contract(examination: Examine) -> None:
    """These lines are enough for every day; all of them are looked at below."""
    lines = ["schema", "ids", "difficulty", "references", "stable", "wrong", "fences", "wrappers"]
    result = examine(examination("basics"), lines)
    words = {one.line: one.word for one in result.findings}
    assert set(words.values()) <= {Status.HELD, Status.WARNING}, result.findings


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("basics", {}),
        ("humaneval", {}),
        ("mbpp", {"lazy": {"MBPP/404", "MBPP/698", "MBPP/847", "MBPP/899"}}),
    ],
)
def test_real_benchmarks_keep_their_contract(
    name: str, known: dict[str, set[str]], data: Path, walls: Sandbox
) -> None:
    exam = Contract(contract_subject(name, None if name == "basics" else data), walls, workers=2)
    result = examine(exam)
    bad = {one.line: one for one in result.findings if one.word in (Status.BROKEN, Status.UNKNOWN)}
    if not walls.enforcement().isolated:
        assert bad.pop("hidden").word is Status.UNKNOWN
    assert not bad
    found = {one.line: set(one.known) for one in result.findings if one.known}
    found.pop("time", None)  # how fast the machine is
    assert found == known
