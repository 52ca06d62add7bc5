"""A program that fails says so as it would if Python itself ran it."""

import subprocess
import sys

import pytest

from proctor.records.limits import Limits
from proctor.records.program import Program

HOOK = "import sys\ndef hook(*error):\n    {}\nsys.excepthook = hook\n1 / 0"
FAILING = {
    "in a function": "def f():\n    return 1 / 0\nprint(f())",
    "by another error": "try:\n    1 / 0\nexcept Exception as error:\n    raise KeyError(1) from error",
    "with a note": "error = ValueError('a')\nerror.add_note('note')\nraise error",
    "as a group": "raise ExceptionGroup('g', [ValueError(1), TypeError(2)])",
    "while it is compiled": "print(",
    "where it has no words": "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
    "by leaving": "raise SystemExit('bye')",
    "by what it prints": "print('\\ud800')",
    "without standard error": "import sys\nsys.stderr = None\n1 / 0",
    "with a hook": HOOK.format("print('mine', error[0].__name__)"),
    "with a hook that leaves": HOOK.format("sys.exit(7)"),
    "with a hook that fails": HOOK.format("raise ValueError(2)"),
    "with a hook that is none": "import sys\nsys.excepthook = None\n1 / 0",
    "in a text of its own": "exec('1 / 0')",
    "by leaving, without standard error": "import sys\nsys.stderr = None\nsys.exit('bad')",
    "by leaving with words it has not": "class E:\n    def __str__(self): 1 / 0\nraise SystemExit(E())",
    "by leaving with a large number": "raise SystemExit(2**70)",
    "with a hook that fails, without standard error": HOOK.format(
        "sys.stderr = None; raise ValueError(2)"
    ),
}


@pytest.mark.parametrize("source", FAILING.values(), ids=FAILING)
def test_a_program_fails_as_python_has_it(kernel, tmp_path, source):
    (tmp_path / "main.py").write_text(source)
    plain = subprocess.run(
        [sys.executable, "-S", "main.py"],
        cwd=tmp_path, capture_output=True, check=False,
    )  # fmt: skip
    said = plain.stderr.replace(f"{tmp_path}/".encode(), b"")
    found = kernel.run(Program(source=source), Limits())
    assert (found.ending.code, found.stdout, found.stderr) == (plain.returncode, plain.stdout, said)


@pytest.mark.parametrize(
    "source",
    [
        "import sys\nclass Out:\n    def write(self, text): raise OSError\nsys.stderr = Out()\n1 / 0",
        "import sys\ndef hook(*_): 1 / 0\nsys.excepthook = sys.__excepthook__ = hook\n1 / 0",
    ],
)
def test_nobody_falls_back_into_the_keeper(kernel, source):
    found = kernel.run(Program(source=source), Limits())
    assert found.ending.code == 1
    assert b"inside" not in found.stderr


def test_arguments_may_be_full_of_commas(kernel):
    program = Program(source="import sys\nprint(len(sys.argv[1]))", args=["1," * 1_100_000])
    assert kernel.run(program, Limits()).stdout == b"2200000\n"
