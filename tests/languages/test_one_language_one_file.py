"""What is particular to a language stands in its file, and nowhere else."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import proctor
from proctor import languages
from proctor.languages import builtin_languages

SOURCE = Path(proctor.__file__).parent
ALLOWED_PLACES = {
    "languages/": "one file for each language",
    "axes/": "the analysis of C++",
    "benchmarks/humaneval_x.py": "names that publishers gave their data",
    "benchmarks/multipl_e.py": "names that publishers gave their data",
    "benchmarks/repository_tasks.py": "code in a repository is in C++",
    "judge/cpp/": "the judge of C++",
}
ALLOWED = {
    ("judge/judge.py", "cpp"): "C++ has a judge that keeps tests and candidate apart",
    ("benchmarks/tasks_file.py", "cpp"): "code in a repository is in C++",
    ("judge/repository_tests.py", "cpp"): "code in a repository is in C++",
    ("judge/repository_tests.py", "g++"): "code in a repository is in C++",
    ("records/repository.py", ".cpp"): "code in a repository is in C++",
    ("judge/calls.py", "h"): "a key of messages",
    ("sandbox/inside/protocol/values.py", "c"): "a tag of complex numbers",
    ("sandbox/inside/roles/candidate.py", "h"): "a key of messages",
    ("sandbox/inside/roles/examiner.py", "h"): "a key of messages",
    ("sandbox/inside/roles/proxies.py", "h"): "a key of messages",
    ("results/pass_at_k.py", "c"): "the number of correct samples",
}
PYTHON_BRANCHES = {
    "benchmarks/tasks_file.py": "the parts of a Python task are parsed when it is read",
    "checks/contract/leaks.py": "the probe in Python looks for tests in the memory, too",
    "checks/contract/rejection.py": "wrong solutions are derived from the syntax tree",
    "checks/hostile_corpus.py": "the corpus has all kinds of tests for Python",
    "cli/commands/exec.py": "--preamble base is Python",
    "extraction/__init__.py": "the rules for Python parse the answer",
    "extraction/python/__init__.py": "the rules for Python use its own fence tags",
    "extraction/assemble.py": "what precedes a program is chosen by its syntax tree",
    "grading/evaluate.py": "other languages need a compiler, which is looked for first",
    "grading/ray/engine.py": "other languages need a compiler, which is looked for first",
    "judge/judge.py": "other languages need a compiler, which is looked for first",
    "judge/stdin.py": "a keeper reports how a Python program ended",
    "models/prompting.py": "a continued comment or docstring; the few-shot examples",
    "report/selftest.py": "Python is not named where nothing else was judged",
    "server/compat/piston/runtimes.py": "Piston's name of a Python has its version in it",
    "sandbox/supervisor/sessions.py": "a box has an interpreter of Python, and no compiler",
    "sandbox/tiers/pooled.py": "a box has an interpreter of Python, and no compiler",
    "sandbox/tiers/portable.py": "the tier runs Python only",
    "sandbox/tiers/wasm/__init__.py": "the tier runs Python only",
    "server/compat/sandboxfusion/datasets.py": "the few-shot examples are in Python",
}
FUSION = "server/compat/sandboxfusion/requests.py"
"""Names all 29 languages of SandboxFusion, which run here or do not: its requests are checked."""


def words(name: str) -> set[str]:
    """Return the names, tags and suffix of a language."""
    language = builtin_languages()[name]
    names = {name, language.suffix, *language.fence_tags}
    names |= {other for one in language.piston for other in (one.language, *one.aliases)}
    return names | ({language.sandboxfusion.name} if language.sandboxfusion else set())


# Proctor is written in Python, so of its names only comparisons with "python" are looked for.
WORDS = set[str]().union(*(words(name) for name in builtin_languages() if name != "python"))


def constants(path: Path) -> Iterator[str]:
    """Yield the string constants of a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def python_branches() -> Iterator[str]:
    """Yield modules outside the allowed places that compare a language with Python."""
    for path in SOURCE.rglob("*.py"):
        name = str(path.relative_to(SOURCE))
        branches = [
            node
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, (ast.Compare, ast.BinOp))
            and any(is_python(one) for one in ast.walk(node))
        ]
        if branches and not name.startswith(tuple(ALLOWED_PLACES)):
            yield name


def is_python(node: ast.AST) -> bool:
    """Return whether an expression is the name of Python, or a constant called PYTHON."""
    return (isinstance(node, ast.Constant) and node.value == "python") or (
        isinstance(node, ast.Name) and node.id == "PYTHON"
    )


def found() -> set[tuple[str, str]]:
    """Return files outside the allowed places with the words for languages in them."""
    paths = {str(path.relative_to(SOURCE)): path for path in SOURCE.rglob("*.py")}
    return {
        (name, text)
        for name, path in paths.items()
        if not name.startswith(tuple(ALLOWED_PLACES))
        for text in constants(path)
        if text in WORDS and name != FUSION
    }


def test_no_other_file_names_a_language() -> None:
    assert found() - set(ALLOWED) == set()


def test_every_exception_is_needed() -> None:
    assert set(ALLOWED) - found() == set()


def test_only_known_modules_treat_python_otherwise() -> None:
    assert set(python_branches()) == set(PYTHON_BRANCHES)


def test_every_language_has_a_file_of_its_name() -> None:
    files = {path.stem for path in (SOURCE / "languages").glob("*.py")}
    assert set(builtin_languages()) <= files


def test_a_new_file_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kotlin.py").write_text(
        "import msgspec\nfrom proctor.languages.bash import LANGUAGE as BASH\n"
        "LANGUAGE = msgspec.structs.replace(BASH, name='kotlin')\n"
    )
    monkeypatch.setattr(languages, "__path__", [*languages.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "proctor.languages.kotlin", raising=False)
    assert "kotlin" in languages._modules.__wrapped__()
