"""Programs run in Piston's dialect by a real server."""

import pytest

STAGE = [
    *("signal", "stdout", "stderr", "code", "output", "memory", "message", "status"),
    *("cpu_time", "wall_time"),
]
CPP = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << 2 * n; }"


def some(stage, *names):
    return tuple(stage[name] for name in names)


def test_a_program_that_ends_well(ran):
    answer = ran("print('hello')")
    assert list(answer) == ["run", "language", "version"]
    assert list(answer["run"]) == STAGE
    assert answer["run"] | {"memory": 0, "cpu_time": 0, "wall_time": 0} == {
        "signal": None,
        "stdout": "hello\n",
        "stderr": "",
        "code": 0,
        "output": "hello\n",
        "memory": 0,
        "message": None,
        "status": None,
        "cpu_time": 0,
        "wall_time": 0,
    }
    assert answer["run"]["memory"] > 0
    assert answer["language"] == "python"


@pytest.mark.parametrize(
    ("code", "ended"),
    [
        ("raise SystemExit(3)", (3, None, "RE", "Exited with error status 3")),
        ("while True: pass", (None, "SIGKILL", "TO", "Time limit exceeded")),
        (
            "import time; time.sleep(60)",
            (None, "SIGKILL", "TO", "Time limit exceeded (wall clock)"),
        ),
        (
            "import os; os.kill(os.getpid(), 11)",
            (None, "SIGSEGV", "SG", "Caught fatal signal 11"),
        ),
        ("while True: print('x' * 99999)", (None, "SIGKILL", "OL", "stdout length exceeded")),
        (
            "import sys\nwhile True: print('x' * 99999, file=sys.stderr)",
            (None, "SIGKILL", "EL", "stderr length exceeded"),
        ),
    ],
)
def test_how_programs_end(ran, code, ended):
    stage = ran(code, run_timeout=1000)["run"]
    assert some(stage, "code", "signal", "status", "message") == ended


def test_what_is_no_python_fails_as_it_does_there(ran):
    stage = ran("def f(:")["run"]
    assert some(stage, "code", "status") == (1, "RE")
    assert "SyntaxError" in stage["stderr"]


def test_input_arguments_and_files(ran):
    code = "import sys, helper\nprint(sys.argv[1:], repr(sys.stdin.read()), helper.x, open('d/b', 'rb').read())"
    files = [
        {"name": "d/b", "content": "AP8=", "encoding": "base64"},
        {"name": "start.py", "content": code},
        {"name": "helper.py", "content": "x = 7"},
    ]
    answer = ran("", files=files, args=["a", "b c"], stdin="in")
    assert answer["run"]["stdout"] == "['a', 'b c'] 'in\\n' 7 b'\\x00\\xff'\n"


def test_no_input_is_a_blank_line(ran):
    assert ran("import sys; print(sys.stdin.readlines())")["run"]["stdout"] == "['\\n']\n"


def test_the_clocks_of_a_stage_are_two(ran):
    busy = ran("while True: pass", run_timeout=20_000, run_cpu_time=500)["run"]
    assert some(busy, "status", "message") == ("TO", "Time limit exceeded")
    assert busy["cpu_time"] >= 400


def test_memory_is_limited(ran):
    stage = ran("x = bytearray(10**9)", run_memory_limit=256 << 20)["run"]
    assert stage["code"] != 0


def test_output_that_is_no_text(ran):
    stage = ran("import sys; sys.stdout.buffer.write(b'a\\xff\\n'); sys.stderr.write('e')")["run"]
    assert some(stage, "stdout", "output") == ("a\ufffd\n", "a\ufffd\ne")


@pytest.mark.usefixtures("cpp")
def test_a_compiler_has_a_stage_of_its_own(ran):
    answer = ran(CPP, "c++", stdin="21")
    assert list(answer) == ["compile", "run", "language", "version"]
    assert some(answer["compile"], "code", "stdout", "status") == (0, "", None)
    assert some(answer["run"], "code", "stdout") == (0, "42")


@pytest.mark.usefixtures("cpp")
def test_what_does_not_compile_has_the_same_stage_twice(ran):
    answer = ran("int main() { return x; }", "cpp")
    assert some(answer["compile"], "code", "status", "signal") == (1, "RE", None)
    assert "error" in answer["compile"]["stderr"]
    assert answer["run"] == answer["compile"]


@pytest.mark.usefixtures("cpp")
def test_a_header_lies_beside_the_program(ran):
    files = [
        {
            "name": "a.cpp",
            "content": '#include "b.h"\n#include <cstdio>\nint main() { printf(B); }',
        },
        {"name": "b.h", "content": '#define B "beside"\n'},
    ]
    assert ran("", "c++", files=files)["run"]["stdout"] == "beside"


def test_refusals_and_their_order(server, execute):
    post = server.client.post
    answer = post("/api/v2/execute", content=b"{", headers={"content-type": "text/plain"})
    assert (answer.status_code, answer.json()) == (
        415,
        {"message": "requests must be of type application/json"},
    )
    answer = post("/api/v2/execute", content=b"{", headers={"content-type": "application/json"})
    assert (answer.status_code, list(answer.json())) == (400, ["stack"])
    assert execute(language=1) == (400, {"message": "language is required as a string"})
    unknown = {"message": "brainfuck-* runtime is unknown"}
    assert execute(language="brainfuck", files=[], run_timeout=-1) == (400, unknown)
    assert execute(version="1.x") == (400, {"message": "python-1.x runtime is unknown"})
    bare = {"message": "files must include at least one utf8 encoded file"}
    assert execute(files=[], run_timeout=-1) == (400, bare)
    assert execute(run_timeout=-1) == (400, {"message": "run_timeout must be non-negative"})


def test_a_file_that_leads_out_has_no_answer(execute):
    files = [{"content": ""}, {"name": "../out", "content": "x"}]
    assert execute(files=files) == (500, None)
    assert execute(files=[{"content": ""}, {"name": "/etc/passwd", "content": "x"}]) == (500, None)


def test_a_file_that_is_called_as_the_program(execute):
    status, answer = execute(files=[{"content": ""}, {"name": "main.py", "content": "x"}])
    assert status == 400
    assert answer["message"].startswith("main.py is what the program itself is called")


def test_paths_that_are_not_there(server):
    for method, path in (("GET", "/api/v2/nothing"), ("GET", "/api/v2/execute")):
        answer = server.client.request(method, path)
        assert (answer.status_code, answer.json()) == (404, {"message": "Not Found"})
