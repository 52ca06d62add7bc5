"""Programs of other languages in their boxes: what they see, and who is to blame."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import msgspec
import pytest

from proctor.errors import SandboxError
from proctor.judge.judge import Judge
from proctor.languages import get_language
from proctor.languages.toolchain import Toolchain
from proctor.records.execution import Exited, SandboxFailed, TimedOut
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import StdinCases, Task
from proctor.records.verdict import Bucket, Unscored
from proctor.sandbox.tiers.select import open_sandbox
from proctor.sandbox.toolchains import execute, runner
from tests.requires import requires_language


def run(sandbox, language, source, stdin=b"", **limits):
    requires_language(sandbox, language)
    return sandbox.run(Program(source=source, language=language), Limits(**limits), stdin)


def test_who_is_ended_before_he_begins_was_compiled_all_the_same(kernel, monkeypatch):
    """Its compiler is not to blame, however little time is left for the run."""
    assert run(kernel, "bash", "echo 1").compiled, "bash has been tried by now"
    end_of = execute.ending_of

    def ended_early(guest):
        found = end_of(guest)
        return msgspec.structs.replace(found, compiled=False, ending=TimedOut("wall"))

    monkeypatch.setattr(execute, "ending_of", ended_early)
    assert run(kernel, "bash", "echo 1").compiled


def test_a_program_sees_nothing_of_the_user_and_of_the_compiler_s_work(kernel, tmp_path):
    (tmp_path / "secret").write_text("a secret")
    found = run(
        kernel,
        "bash",
        f"cat {tmp_path}/secret /proc/{os.getpid()}/environ; ls; ls /; env; echo $$",
    )
    assert found.ending == Exited(0)
    assert b"secret" not in found.stdout
    assert found.stdout.startswith(b"main.sh\n")
    assert b"PYTHON" not in found.stdout


def test_only_a_binary_is_left_when_it_runs(kernel):
    source = '#include <cstdlib>\nint main() { return system("ls; ls /proc/self/fd | wc -l"); }'
    found = run(kernel, "cpp", source)
    assert found.stdout.split() == [b"main", b"4"], "standard streams and the folder it reads"


def test_a_compiler_reads_no_file_of_the_host(kernel, tmp_path):
    (tmp_path / "secret").write_text("a secret")
    found = run(kernel, "cpp", f'#include "{tmp_path}/secret"\nint main() {{}}')
    assert (found.ending, found.compiled) == (Exited(1), False)
    assert b"No such file" in found.stderr
    assert b"a secret" not in found.stderr


def test_signals_that_python_ignores_are_not_ignored(kernel):
    source = (
        "#include <csignal>\n#include <cstdio>\nint main() {\n"
        'printf("%d\\n", signal(SIGPIPE, SIG_DFL) == SIG_DFL && signal(SIGXFSZ, SIG_DFL) == SIG_DFL); }'
    )
    assert run(kernel, "cpp", source).stdout == b"1\n"


def test_stacks_are_deep_and_threads_can_be_made_all_the_same(kernel):
    source = """
        #include <thread>
        #include <iostream>
        int deep(int n) { volatile int x[16]; x[0] = n; return n ? deep(n - 1) + x[0] - n : 0; }
        int main() {
            std::thread all[4];
            for (auto &one : all) one = std::thread([] { deep(1000); });
            for (auto &one : all) one.join();
            std::cout << deep(500000);
        }"""
    assert run(kernel, "cpp", source).stdout == b"0"


def test_arguments_and_standard_input_arrive(kernel):
    kernel.require_language("bash")
    program = Program(source='cat; echo "$1-$2"', language="bash", args=("a b", "c"))
    assert kernel.run(program, Limits(), b"in\n").stdout == b"in\na b-c\n"


def test_a_missing_or_broken_toolchain_is_nobodys_failure(monkeypatch):
    def nowhere(name):
        raise SandboxError(f"{name}: there is no compiler here; install one")

    task = Task(task_id="t", language="cpp", tests=StdinCases(inputs=[""], outputs=[""]))
    program = Program(source="int main() {}", language="cpp")
    monkeypatch.setattr(runner, "find_toolchain", nowhere)
    try:
        sandbox = open_sandbox("kernel", sys.executable)
    except SandboxError as error:
        pytest.skip(str(error))
    try:
        verdict = Judge(sandbox).judge(task, program).verdict
    finally:
        sandbox.close()
    assert isinstance(verdict, Unscored)
    assert (verdict.bucket, verdict.reason) == (
        Bucket.HARNESS,
        "cpp: there is no compiler here; install one",
    )


def test_a_toolchain_whose_self_test_fails_is_not_offered(monkeypatch):
    lame = Toolchain(
        language=get_language("bash"), version="1", commands={"bash": "/usr/bin/false"}, shown=()
    )
    monkeypatch.setattr(runner, "find_toolchain", lambda name: lame)
    try:
        sandbox = open_sandbox("kernel", sys.executable)
    except SandboxError as error:
        pytest.skip(str(error))
    try:
        with pytest.raises(SandboxError, match="its self-test says"):
            sandbox.require_language("bash")
        assert "bash" not in sandbox.enforcement().toolchains
    finally:
        sandbox.close()


def test_a_command_that_is_not_there_is_our_fault(kernel, monkeypatch):
    gone = Toolchain(
        language=get_language("bash"), version="1", commands={"bash": "/usr/bin/none"}, shown=()
    )
    runs = runner.CompiledRuns(
        kernel._toolchains, gone, Program(source="", language="bash"), Limits()
    )
    with pytest.raises(SandboxError, match="No such file"):
        runs.run(b"")


@pytest.mark.parametrize("tier", ["contained", "portable"])
def test_other_tiers_say_that_they_cannot(tier):
    try:
        sandbox = open_sandbox(tier, sys.executable)
    except SandboxError as error:
        pytest.skip(str(error))
    try:
        program = Program(source="int main() {}", language="cpp")
        ending = sandbox.run(program, Limits()).ending
        assert isinstance(ending, SandboxFailed)
        assert "cpp needs --sandbox kernel" in ending.reason
        with pytest.raises(SandboxError, match="cpp needs --sandbox kernel"):
            sandbox.repeat(program, Limits(), times=1)
        session = sandbox.session(Limits())
        with pytest.raises(SandboxError, match="cpp needs --sandbox kernel"):
            session.exec(program)
        session.close()
    finally:
        sandbox.close()


def test_killed_during_a_compile_nothing_is_left(kernel, processes_below):
    run(kernel, "cpp", "int main() {}")
    slow = (
        "template<int N> struct A { A<N-1> a; A<N-2> b; };"
        "template<> struct A<0>{};"
        "template<> struct A<1>{}; int main() { A<60> a; }"
    )
    code = textwrap.dedent(f"""
        import sys
        from proctor.records.program import Program
        from proctor.records.limits import Limits
        from proctor.sandbox.tiers.select import open_sandbox
        sandbox = open_sandbox("kernel", sys.executable)
        sandbox.require_language("cpp")
        print("ready", flush=True)
        sandbox.run(Program(source={slow!r}, language="cpp"), Limits())
    """)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as victim:
        assert victim.stdout.readline() == b"ready\n"
        below: set[int] = set()
        end = time.monotonic() + 20
        while not any(_runs(pid, b"cc1plus") for pid in below) and time.monotonic() < end:
            below = processes_below(victim.pid)
            time.sleep(0.02)
        assert any(_runs(pid, b"cc1plus") for pid in below)
        os.kill(victim.pid, signal.SIGKILL)
    while any(map(_lives, below)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [pid for pid in below if _lives(pid)]


def _runs(pid, name):
    try:
        return name in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
    except OSError:
        return False


def _lives(pid):
    return Path(f"/proc/{pid}").exists()
