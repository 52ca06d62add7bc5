"""`proctor exec`."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.languages import get_language
from proctor.measure.sandbox_speed import working_tiers

Proctor = Callable[..., Any]
HOME = Path.home()
"""Where a module is kept compiled, unless tests have a home of their own."""
FIELDS = ["ending", "exit_code", "signal", "stdout", "stderr", "truncated", "usage"]


@pytest.fixture
def run(proctor: Proctor, alone: Path) -> Callable[..., dict[str, Any]]:
    """Return a function that runs a program and returns what was printed."""

    def execute(code: str, *args: object) -> dict[str, Any]:
        path = alone / "program.py"
        path.write_text(code)
        ran = proctor("exec", path, *args)
        assert ran.status == 0, ran.err
        assert len(ran.out.splitlines()) == 1
        assert ran.out.rstrip("\n").isprintable()
        found: dict[str, Any] = json.loads(ran.out)
        assert list(found) == FIELDS
        assert list(found["usage"]) == ["cpu_seconds", "wall_seconds", "memory_bytes"]
        return found

    return execute


def test_a_program_that_ends(run: Callable[..., dict[str, Any]]) -> None:
    found = run("import sys; print('é'); print('e', file=sys.stderr); sys.exit(3)")
    assert (found["ending"], found["exit_code"], found["signal"]) == ("exited", 3, None)
    assert (found["stdout"], found["stderr"], found["truncated"]) == ("é\n", "e\n", False)
    assert found["usage"]["memory_bytes"] > 0


def test_other_endings(run: Callable[..., dict[str, Any]]) -> None:
    killed = run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (killed["ending"], killed["exit_code"], killed["signal"]) == ("signalled", None, 11)
    assert run("while True: pass", "--timeout", "0.3")["ending"] == "timed_out"
    flood = run("while True: print('x' * 1000)")
    assert (flood["ending"], flood["truncated"]) == ("output_too_long", True)
    memory = run("bytearray(400 << 20)", "--memory", "200MiB")
    assert "MemoryError" in memory["stderr"]


def test_input_and_arguments(run: Callable[..., dict[str, Any]], alone: Path) -> None:
    (alone / "in.txt").write_bytes(b"a\nb\n")
    code = "import sys; print(sys.argv[1:], sys.stdin.read())"
    found = run(code, "--stdin", alone / "in.txt", "--", "x", "--y")
    assert found["stdout"] == "['x', '--y'] a\nb\n\n"
    assert run("print(repr(input()))")["exit_code"] == 1


def test_the_program_from_standard_input(proctor: Proctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"print(6 * 7)")))
    assert json.loads(proctor("exec", "-").out)["stdout"] == "42\n"


def test_the_usual_imports(run: Callable[..., dict[str, Any]]) -> None:
    code = "from __future__ import annotations\nprint(math.gcd(4, 6))"
    assert run(code)["exit_code"] == 1
    assert run(code, "--preamble", "base")["stdout"] == "2\n"


def test_hostile_output_stays_in_its_string(run: Callable[..., dict[str, Any]]) -> None:
    found = run(r"import sys; sys.stdout.buffer.write('\x1b[31m\u202e\x9b'.encode() + b'\xff')")
    assert found["stdout"] == "\x1b[31m\u202e\x9b\ufffd"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["none.py"], "cannot read none.py: No such file or directory"),
        (["."], "cannot read .: Is a directory"),
        (["bad.py"], "cannot read bad.py: not UTF-8: byte 0xff, invalid start byte"),
        (["good.py", "--stdin", "none"], "cannot read none: No such file or directory"),
        (["good.py", "--language", "cobol"], "--language cobol: known are python, bash, c, cpp, go, java, javascript, rust, typescript"),
        (["good.py", "--timeout", "0"], "--timeout 0: must be above 0 and up to 300"),
        (["good.py", "--timeout", "nan"], "--timeout nan: must be above 0 and up to 300"),
        (["good.py", "--memory", "lots"], "--memory lots: write it as 512MiB or 2G"),
    ],
)  # fmt: skip
def test_bad_input(proctor: Proctor, alone: Path, args: list[str], said: str) -> None:
    (alone / "good.py").write_text("print(1)")
    (alone / "bad.py").write_bytes(b"\xff")
    ran = proctor("exec", *args)
    assert (ran.status, ran.out, ran.complaint) == (2, "", said)


def test_no_such_sandbox_or_interpreter(proctor: Proctor, alone: Path) -> None:
    (alone / "good.py").write_text("print(1)")
    ran = proctor("exec", "good.py", "--sandbox", "bag")
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint.startswith("--sandbox bag: ")
    ran = proctor("exec", "good.py", "--sandbox", "portable", "--python", "/no/such/python")
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint.startswith("/no/such/python is not a Python that can run candidates: ")


def test_packages_that_candidates_may_import(run: Callable[..., dict[str, Any]]) -> None:
    if "kernel" not in working_tiers():
        pytest.skip("packages are shown one by one in the kernel tier only")
    source = "import numpy\nprint(numpy.zeros(2).sum())\n"
    assert run(source)["stdout"] == "0.0\n"
    assert "No module named 'numpy'" in run(source, "--candidate-packages", "none")["stderr"]


@pytest.mark.requires("cpp")
def test_a_program_in_another_language(proctor: Proctor, alone: Path) -> None:
    (alone / "double.cpp").write_text(get_language("cpp").self_test)
    (alone / "broken.cpp").write_text("int main() { return x; }")
    (alone / "input").write_text("21\n")
    ran = proctor("exec", "--language", "cpp", "double.cpp", "--stdin", "input")
    said = json.loads(ran.out)
    if said["ending"] == "sandbox_failed":
        pytest.skip("the kernel tier does not work here")
    assert (ran.status, said["ending"], said["exit_code"], said["stdout"]) == (
        0,
        "exited",
        0,
        "42\n",
    )
    said = json.loads(proctor("exec", "--language", "cpp", "broken.cpp").out)
    assert (said["ending"], said["exit_code"], said["stdout"]) == ("exited", 1, "")
    assert "error" in said["stderr"]


def test_a_program_in_webassembly(
    run: Callable[..., dict[str, Any]], wasm_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(HOME))
    said = run("import sys\nprint(sys.platform, sys.argv)", "--wasm", wasm_python, "--", "a", "-b")
    assert (said["ending"], said["stdout"]) == ("exited", "wasi ['main.py', 'a', '-b']\n")


def test_a_module_that_cannot_be_used(proctor: Proctor, alone: Path) -> None:
    (alone / "program.py").write_text("print(1)")
    (alone / "text.wasm").write_text("print(1)")
    for flags, why in (
        (
            ("--wasm", "no.wasm"),
            "--wasm no.wasm: there is no such file, or it is not called NAME.wasm",
        ),
        (("--wasm", "program.py"), "--wasm program.py: there is no such file, or it is not"),
        (
            ("--wasm", "text.wasm", "--sandbox", "kernel"),
            "--wasm text.wasm: that is for --sandbox wasm",
        ),
        (("--wasm", "text.wasm"), "text.wasm is no WebAssembly module; it has to be a WASI build"),
        (
            ("--wasm", "text.wasm", "--candidate-packages", "numpy"),
            "candidate packages: the wasm tier has the standard library only, not numpy",
        ),
    ):
        ran = proctor("exec", "program.py", *flags)
        assert (ran.status, ran.out) == (2, "")
        assert ran.complaint.startswith(why)
    ran = proctor("exec", "program.py", "--sandbox", "wasm")
    assert ran.status == 3
    assert "it needs a WASI build of Python: --wasm PATH, or the setting wasm" in ran.complaint
