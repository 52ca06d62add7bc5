"""Submissions with their tests, as open-r1 sends them."""

import pytest

from proctor.server.compat.piston.contests import contest_of
from proctor.server.compat.piston.requests import Execute, File, Wrong

DOUBLE = "print(2 * int(input()))"
CHECKER = (
    "import sys\n"
    "given, expected, got = (open(name).read().split() for name in sys.argv[1:])\n"
    "print(100 if sorted(got) == sorted(expected) else 0)\n"
)


def contest(**files):
    return contest_of(
        Execute(
            files=[
                File(name="main.python", content=b"", is_text=True),
                *(File(name=name, content=text, is_text=True) for name, text in files.items()),
            ],
            stdin="",
            args=[],
            compile_timeout=1,
            run_timeout=1,
            compile_cpu_time=1,
            run_cpu_time=1,
            compile_memory_limit=None,
            run_memory_limit=None,
        )
    )


def submit(execute, code, given, expected, language="cf_python3", mode="stdio", **more):
    """Send a submission as its scorer does, and return whether that would count it as right."""
    config = {"TIME_LIMIT": more.pop("seconds", 2.0), "MEMORY_LIMIT": 256.0, "INPUT_MODE": mode}
    lines = "\n".join(f"{name}={value}" for name, value in config.items())
    files = [
        {"name": "main.python", "content": code},
        *({"name": name, "content": text} for name, text in more.items()),
        {"name": "input.txt", "content": given},
        {"name": "correct_output.txt", "content": expected},
        {"name": "grader_config", "content": lines},
    ]
    files = [{**file, "name": file["name"].replace("checker_py", "checker.py")} for file in files]
    return execute("", language, files=files, run_timeout=12_000.0)


@pytest.fixture
def judged(execute):
    def post(*args, **more):
        status, answer = submit(execute, *args, **more)
        assert status == 200, answer
        assert answer["compile"]["code"] == 0
        return answer["run"]["code"], answer["run"]["stdout"].strip()

    return post


def test_right_and_wrong(judged):
    assert judged(DOUBLE, "21\n", "42\n") == (0, "1")
    assert judged(DOUBLE, "21\r\n", "42\r\n\r\n") == (0, "1")
    assert judged("print(41)", "21\n", "42\n") == (0, "0")
    assert judged("print('Yes  a\\n\\nb')", "", "YES\na b\n") == (0, "1")
    assert judged("print('yesterday')", "", "YESterday\n") == (0, "0")


def test_what_does_not_end_well_is_wrong(judged):
    assert judged("raise SystemExit(7)", "", "") == (7, "0")
    assert judged("while True: pass", "", "", seconds=0.5) == (124, "0")
    assert judged("def f(:", "", "") == (1, "0")
    assert judged("import os; os.kill(os.getpid(), 11)", "", "") == (139, "0")


def test_a_checker_decides(judged):
    assert judged("print('b a')", "", "a b", checker_py=CHECKER) == (0, "1")
    assert judged("print('b c')", "", "a b", checker_py=CHECKER) == (0, "0")
    assert judged("print(1)", "", "1", checker_py="raise SystemExit(5)") == (5, "0")


def test_by_files(judged):
    code = "open('output.txt', 'w').write(str(2 * int(open('input.txt').read())))\nprint('x')"
    assert judged(code, "21\n", "42\n", mode="file") == (0, "1")
    assert judged(DOUBLE, "21\n", "42\n", mode="file")[1] == "0"


def test_a_submission_sees_nothing_of_its_test(judged):
    code = "import os; print(os.listdir('.'), os.listdir('/tmp'))"
    assert judged(code, "SECRET", "['main.py'] ['main.py']", checker_py=CHECKER) == (0, "1")


def test_without_an_expected_output_it_is_what_was_written(execute):
    files = [
        {"content": "print(input())\nprint()\nprint(1)"},
        {"name": "input.txt", "content": "a"},
    ]
    status, answer = execute("", "cf_python3", files=files)
    assert (status, answer["run"]["stdout"]) == (200, "a\n1\n")


def test_without_a_test_it_is_a_program_and_has_compiled(ran):
    answer = ran("print(input())", "cf_python3", stdin="a")
    assert (answer["compile"]["code"], answer["run"]["stdout"]) == (0, "a\n")


@pytest.mark.usefixtures("cpp")
def test_cpp(execute, judged):
    code = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << 2 * n; }"
    assert judged(code, "21\n", "42\n", language="c++17") == (0, "1")
    status, answer = submit(execute, "int main() {", "", "", language="c++17")
    assert (status, answer["compile"]["code"], answer["run"]) == (200, 1, answer["compile"])


@pytest.mark.parametrize("text", [b"TIME_LIMIT=x", b"TIME_LIMIT=-1", b"MEMORY_LIMIT=inf"])
def test_limits_that_are_none_are_refused(text):
    with pytest.raises(Wrong, match="must be a number above 0"):
        contest(grader_config=text)


def test_what_a_test_holds():
    found = contest(grader_config=b"TIME_LIMIT=2.5\nMEMORY_LIMIT=None\nINPUT_MODE='file'\nodd")
    assert (found.seconds, found.memory_bytes, found.by_file) == (2.5, None, True)
    assert contest(other=b"") is None
