"""Jobs: programs among files that they are given, and what is fetched when they are gone."""

import pytest

from proctor.errors import InputError
from proctor.records.execution import Exited, OutputTooLong, SandboxFailed, Signalled, TimedOut
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.sandbox.supervisor.job import MAX_FILES, Job, is_inside
from tests.requires import requires_language

QUICK = Limits().with_seconds(5.0)


def job(source, language="python", limits=QUICK, **fields):
    return Job(program=Program(source=source, language=language), limits=limits, **fields)


def test_files_go_in_and_come_out(sandbox, nothing_left):
    source = (
        "import os\nos.makedirs('sub', exist_ok=True)\n"
        "open('sub/out', 'wb').write(open('a/b/in', 'rb').read()[::-1])\nprint(sorted(os.listdir('.')))\n"
    )
    found = sandbox.run_job(
        job(source, files={"a/b/in": b"\x00\xff1", "./c": b""}, fetch=["sub/out", "none", "c"])
    )
    assert found.ending == Exited(0), found.stderr
    assert found.stdout == b"['a', 'c', 'main.py', 'sub']\n"
    assert found.files == {"sub/out": b"1\xff\x00", "c": b""}
    assert found.left == {"none": "there is no such file"}


def test_the_next_job_finds_an_empty_folder(sandbox):
    sandbox.run_job(job("open('x', 'w').write('1')", files={"in": b"1"}, fetch=["x"]))
    found = sandbox.run_job(job("import os; print(os.listdir('.'))", fetch=["x", "in"]))
    assert found.stdout == b"['main.py']\n"
    assert found.files == {}


@pytest.mark.parametrize(
    ("then", "ending"),
    [
        ("while True: pass", TimedOut("cpu")),
        ("raise SystemExit(3)", Exited(3)),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", Signalled(9)),
    ],
)
def test_files_are_fetched_however_it_ended(sandbox, then, ending):
    source = f"open('p', 'w').write('partial')\nprint('so far', flush=True)\n{then}\n"
    limits = Limits(cpu_seconds=1.0, wall_seconds=5.0)
    found = sandbox.run_job(job(source, limits=limits, fetch=["p"]))
    assert (found.ending, found.stdout) == (ending, b"so far\n")
    assert found.files == {"p": b"partial"}


def test_nothing_but_files_is_fetched(sandbox):
    source = (
        "import os\nos.mkdir('folder')\nos.symlink('/etc/passwd', 'link')\n"
        "os.symlink('/etc', 'folder/etc')\n"
        "try:\n    os.mkfifo('pipe')\nexcept OSError:\n    pass\n"
    )
    wanted = ["folder", "link", "folder/etc/passwd", "pipe"]
    found = sandbox.run_job(job(source, fetch=wanted))
    assert found.ending == Exited(0), found.stderr
    assert found.files == {}
    assert sorted(found.left) == sorted(wanted)


def test_what_is_fetched_is_bounded(sandbox):
    source = "for name in 'abc': open(name, 'wb').write(bytes(600))\n"
    found = sandbox.run_job(job(source, fetch=["a", "b", "c"], fetch_bytes=1300))
    assert sorted(found.files) == ["a", "b"]
    assert found.left == {"c": "more than 1300 bytes in all"}


def test_the_folder_holds_no_more_than_it_may(kernel):
    limits = Limits(scratch_bytes=4 * MIB)
    source = (
        "try:\n    open('x', 'wb').write(bytes(8 << 20))\nexcept OSError as e: print(e.errno)\n"
    )
    assert kernel.run_job(job(source, limits=limits, fetch=["y"])).stdout == b"28\n"
    with pytest.raises(InputError, match="bytes of files"):
        job("", limits=limits, files={"x": bytes(5 * MIB)})


def test_output_beyond_the_limit_is_kept_up_to_it(sandbox):
    limits = Limits(output_bytes=100_000)
    found = sandbox.run_job(job("print('x' * 200_000)", limits=limits))
    assert found.ending == OutputTooLong()
    assert found.stdout == b"x" * 100_000


@pytest.mark.parametrize(
    "path", ["", ".", "/", "..", "/etc/shadow", "../x", "a/../../x", "a\0b", "x" * 2000, "\ud800"]
)
def test_no_path_leads_out(path):
    with pytest.raises(InputError):
        is_inside(path)
    with pytest.raises(InputError):
        job("", files={path: b""})
    with pytest.raises(InputError):
        job("", fetch=[path])


def test_paths_lose_their_detours():
    assert is_inside("./a//b/./c") == "a/b/c"


def test_there_are_only_so_many_files():
    with pytest.raises(InputError, match="more than"):
        job("", fetch=[str(number) for number in range(MAX_FILES + 1)])


def test_a_file_cannot_take_the_program_s_place(sandbox):
    found = sandbox.run_job(job("print(1)", files={"./main.py": b"print(2)"}))
    assert isinstance(found.ending, SandboxFailed)
    assert "main.py" in found.ending.reason


def offered(kernel, language):
    requires_language(kernel, language)


def test_a_compiler_sees_the_files_too(kernel):
    offered(kernel, "cpp")
    source = (
        '#include "my/header.h"\n#include <fstream>\n#include <iostream>\n'
        'int main() { std::ifstream in("data"); int n; in >> n; std::ofstream("out") << n * F; '
        "std::cout << n; }\n"
    )
    files = {"my/header.h": b"#define F 2\n", "data": b"21"}
    found = kernel.run_job(job(source, "cpp", files=files, fetch=["out"]))
    assert found.ending == Exited(0), found.stderr
    assert (found.stdout, found.files) == (b"21", {"out": b"42"})
    assert found.build is not None
    assert found.build.ending == Exited(0)
    missing = kernel.run_job(job(source, "cpp", fetch=["out"]))
    assert (missing.compiled, missing.files) == (False, {})
    assert b"header.h" in missing.stderr


@pytest.mark.parametrize("files", [{}, {"x": b""}])
def test_compiling_and_running_are_told_apart(kernel, files):
    offered(kernel, "cpp")
    warned = kernel.run_job(job("#warning hey\nint main() { return 7; }\n", "cpp", files=files))
    assert (warned.ending, warned.compiled) == (Exited(7), True)
    assert warned.build is not None
    assert b"hey" in warned.build.stderr
    assert warned.build.usage.wall_seconds > 0
    short = Limits(cpu_seconds=10.0, wall_seconds=0.02)
    late = kernel.run_job(
        job("#include <regex>\nint main() {}\n", "cpp", files=files, building=short)
    )
    assert isinstance(late.ending, TimedOut)
    assert not late.compiled
    assert kernel.run_job(job("#include <regex>\nint main() {}\n", "cpp", files=files)).compiled


def test_a_script_runs_until_its_mistake(kernel):
    offered(kernel, "bash")
    found = kernel.run_job(job("echo before\nif\n", "bash", files={"x": b""}))
    assert (found.stdout, found.build, found.compiled) == (b"before\n", None, True)
    assert isinstance(found.ending, Exited)
    assert found.ending.code != 0
    assert kernel.run_job(job("echo before\nif\n", "bash")).stdout == b"before\n"


LOOK = """
import re
found = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        start, end = (int(n, 16) for n in line.split()[0].split("-"))
        if " rw-p " in line:
            try:
                memory.seek(start)
                found += len(re.findall(rb"of-an-earlier-gues[t]", memory.read(end - start)))
            except OSError:
                pass
print(found)
"""


def test_a_guest_finds_nothing_of_an_earlier_one_in_its_memory(kernel):
    """It is a fork of the keeper, which has seen what the earlier one was given."""
    secret = "of-an-earlier-guest"
    for args, files in (((secret,), {}), ((), {"x": secret.encode()}), ((secret,), {secret: b""})):
        program = Program(source=f"print({secret!r})", args=args)
        kernel.run_job(Job(program=program, limits=QUICK, files=files, stdin=secret.encode()))
    for files in ({}, {"y": b""}):
        looked = kernel.run_job(job(LOOK, files=files))
        assert looked.stdout == b"0\n", looked
