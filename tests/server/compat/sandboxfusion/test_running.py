"""/run_code: what becomes of programs, files, limits and output, whoever recorded what."""

import base64
import concurrent.futures
import json
import time

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.records.execution import (
    Denied,
    Execution,
    Exited,
    OutOfMemory,
    OutputTooLong,
    SandboxFailed,
    Signalled,
    TimedOut,
    Usage,
)
from proctor.records.limits import MIB
from proctor.server.compat.sandboxfusion.answers import MAX_OUTPUT, ran
from proctor.server.compat.sandboxfusion.requests import LANGUAGES
from proctor.server.compat.sandboxfusion.running import runnable
from tests.requires import requires_language

FIELDS = {"status", "message", "compile_result", "run_result", "executor_pod_name", "files"}
COMMAND = {"status", "execution_time", "return_code", "stdout", "stderr"}


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def test_every_field_is_there(run):
    answer = run("print('hello')")
    assert answer.keys() == FIELDS
    assert answer["run_result"].keys() == COMMAND
    assert (answer["status"], answer["message"], answer["compile_result"]) == ("Success", "", None)
    assert answer["run_result"]["stdout"] == "hello\n"
    assert 0 < answer["run_result"]["execution_time"] < 10


@pytest.mark.parametrize(
    ("code", "returned"),
    [
        ("raise SystemExit(3)", 3),
        ("import os; os.abort()", -6),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9),
        ("import ctypes; ctypes.string_at(0)", -11),
        ("assert False", 1),
    ],
)
def test_how_a_program_ends(run, code, returned):
    answer = run(code)
    assert (answer["status"], answer["message"]) == ("Failed", "")
    assert (answer["run_result"]["status"], answer["run_result"]["return_code"]) == (
        "Finished",
        returned,
    )


def test_what_was_written_before_time_ran_out_is_kept(run):
    code = "import time\nopen('p', 'w').write('1')\nprint('a', flush=True)\ntime.sleep(60)"
    answer = run(code, run_timeout=0.7, fetch_files=["p"])
    assert answer["status"] == "Failed"
    assert answer["run_result"]["status"] == "TimeLimitExceeded"
    assert (answer["run_result"]["return_code"], answer["run_result"]["stdout"]) == (None, "a\n")
    assert answer["files"] == {"p": encoded("1")}


@pytest.mark.parametrize("seconds", [0, -1, "0"])
def test_no_time_is_over_at_once(run, seconds):
    answer = run("print(1)", run_timeout=seconds)
    assert answer["run_result"]["status"] == "TimeLimitExceeded"
    assert answer["run_result"]["stdout"] == ""


def test_output_is_whole_up_to_a_mebibyte_and_then_said_to_be_cut(run):
    whole = run(f"import sys; sys.stdout.write('x' * {MAX_OUTPUT})")
    assert (whole["status"], len(whole["run_result"]["stdout"])) == ("Success", MAX_OUTPUT)
    cut = run(f"import sys; sys.stdout.write('é' * {MAX_OUTPUT}); sys.stderr.write('e' * 1000000)")
    assert cut["status"] == "Failed"
    assert cut["run_result"]["stdout"] == "é" * (MAX_OUTPUT // 2)
    assert (
        cut["message"] == f"ended because it wrote more than {MAX_OUTPUT} bytes; the first are kept"
    )
    assert cut["run_result"]["return_code"] == -9


def test_output_that_is_no_text_is_said_to_be_none(run):
    answer = run(r"import sys; sys.stdout.buffer.write(b'\xff')")
    assert answer["status"] == "Success"
    assert answer["run_result"]["stdout"].startswith("[DecodeError] 'utf-8' codec can't decode")


def test_all_threads_may_use_all_processors(run):
    code = (
        "import hashlib, threading\n"
        "def work():\n    for _ in range(40): hashlib.sha256(bytes(1 << 20)).digest()\n"
        "threads = [threading.Thread(target=work) for _ in range(4)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]; print('done')"
    )
    assert run(code)["run_result"]["stdout"] == "done\n"


def test_files_in_and_out(run):
    answer = run(
        "import os\ntext = open('a/in').read()\nopen('out', 'w').write(text.upper())\n"
        "print(sorted(os.listdir('.')))",
        files={"a/in": encoded("text"), "none": None, "empty": ""},
        fetch_files=["out", "missing", "a", "a/in", "out"],
    )
    assert answer["run_result"]["stdout"] == "['a', 'empty', 'main.py', 'out']\n"
    assert answer["files"] == {"out": encoded("TEXT"), "a/in": encoded("text")}
    assert answer["message"] == ""


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"x": "a"}, "Invalid base64"),
        ({"/etc/x": ""}, "'/etc/x' is not a path inside the working folder"),
        ({"a/../../x": ""}, "is not a path inside the working folder"),
        ({f"f{n}": "" for n in range(65)}, "more than 64 files"),
        ({"x": base64.b64encode(bytes(17 * MIB)).decode()}, "bytes of files"),
        ({"main.py": ""}, "is what the program itself is called"),
    ],
)
def test_files_that_cannot_be_put_there(run, files, said):
    answer = run("print(1)", files=files)
    assert answer["status"] == "SandboxError"
    assert said in answer["message"]
    assert (answer["compile_result"], answer["run_result"]) == (None, None)


def test_more_than_there_may_be_is_not_fetched_and_that_is_said(run):
    code = "for name in 'ab': open(name, 'wb').write(bytes(12 << 20))"
    answer = run(code, fetch_files=["a", "b", "../c"])
    assert list(answer["files"]) == ["a"]
    assert "'b' is not fetched: more than" in answer["message"]
    assert "'../c' is not fetched: it is not a path inside the working folder" in answer["message"]


HELLO = {
    "cpp": "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << 2 * n; }",
    "nodejs": "console.log(2 * require('fs').readFileSync('/dev/stdin', 'utf8'))",
    "go": 'package main\nimport "fmt"\nfunc main() { var n int; fmt.Scan(&n); fmt.Println(2 * n) }',
    "go_test": 'package main\nimport "testing"\nfunc TestDouble(t *testing.T) { println(42) }',
    "java": "public class Main { public static void main(String[] a) { System.out.println(2 * "
    "new java.util.Scanner(System.in).nextInt()); } }",
    "bash": "read n; echo $((2 * n)); cat data > copy",
    "typescript": "declare var require: any;\n"
    "console.log(2 * parseInt(require('fs').readFileSync(0, 'utf8')))",
    "rust": "fn main() { let mut s = String::new(); std::io::stdin().read_line(&mut s).unwrap(); "
    'println!("{}", 2 * s.trim().parse::<i32>().unwrap()); }',
}


@pytest.mark.parametrize("language", sorted(HELLO))
def test_languages(run, kernel, language):
    requires_language(kernel, runnable()[language].name)
    answer = run(
        HELLO[language],
        language,
        stdin="21\n",
        compile_timeout=60,
        run_timeout=30,
        files={"data": encoded("x")},
        fetch_files=["copy"],
    )
    assert answer["status"] == "Success", answer
    told = answer["run_result"]["stdout"] + answer["run_result"]["stderr"]
    assert "42" in told
    assert (answer["compile_result"] is not None) == runnable()[language].sandboxfusion.compiles
    assert answer["files"] == ({"copy": encoded("x")} if language == "bash" else {})


def test_what_a_compiler_says(run, kernel):
    requires_language(kernel, "cpp")
    answer = run("int main() { return x; }", "cpp")
    assert (answer["status"], answer["run_result"]) == ("Failed", None)
    assert answer["compile_result"]["return_code"] == 1
    assert "‘x’ was not declared" in answer["compile_result"]["stderr"]
    late = run("int main() {}", "cpp", run_timeout=0)
    assert late["compile_result"]["return_code"] == 0
    assert late["run_result"]["status"] == "TimeLimitExceeded"
    never = run("int main() {}", "cpp", compile_timeout=0)
    assert (never["compile_result"]["status"], never["run_result"]) == ("TimeLimitExceeded", None)


@pytest.mark.parametrize("language", sorted(set(LANGUAGES) - set(runnable())))
def test_languages_without_a_runner(run, language):
    answer = run("code", language)
    assert answer == {
        "status": "SandboxError",
        "message": f"exception on running code code: '{language}' None",
        "compile_result": None,
        "run_result": None,
        "executor_pod_name": None,
        "files": {},
    }


@pytest.mark.parametrize(
    ("ending", "code", "said"),
    [
        (Exited(0), 0, ""),
        (Exited(7), 7, ""),
        (Signalled(11), -11, ""),
        (TimedOut("cpu"), None, ""),
        (OutOfMemory(), -9, "ended because it ran out of memory"),
        (OutputTooLong(), -9, "ended because it wrote more"),
        (Denied("more than 256 processes"), -9, "ended because it tried more than 256 processes"),
    ],
)
def test_endings_in_its_words(ending, code, said):
    answer = ran(Execution(ending=ending, usage=Usage(wall_seconds=1.5)), compiles=False)
    assert answer.run_result is not None
    assert (answer.run_result.return_code, answer.run_result.execution_time) == (code, 1.5)
    assert answer.message.startswith(said)
    assert bool(answer.message) == bool(said)
    assert (answer.status == "Success") == (code == 0)


def test_our_fault_is_an_error_and_no_failure():
    answer = ran(Execution(ending=SandboxFailed("no box")), compiles=False)
    assert (answer.status, answer.message, answer.run_result) == ("SandboxError", "no box", None)


@given(st.binary(max_size=64))
def test_any_output_becomes_text(data):
    answer = ran(Execution(ending=Exited(0), stdout=data), compiles=False)
    assert answer.run_result is not None
    assert answer.run_result.stdout is not None
    json.dumps(answer.run_result.stdout).encode()
    if not answer.run_result.stdout.startswith("[DecodeError]"):
        assert answer.run_result.stdout.encode() == data


def test_a_request_waits_for_its_turn_and_then_is_told_to_come_again(serve, kernel_of_its_own):
    """One worker: the second waits as long as it may take plus five seconds, and no longer."""
    with serve(kernel_of_its_own, workers=1) as url:
        client = httpx2.Client(base_url=url, timeout=60, trust_env=False)

        def post(code, **fields):
            answer = client.post("/run_code", json={"code": code, "language": "python", **fields})
            return answer.status_code, answer.json(), answer.headers

        with concurrent.futures.ThreadPoolExecutor(3) as threads:
            begun = time.monotonic()
            first = threads.submit(post, "import time; time.sleep(6.5)", run_timeout=20)
            time.sleep(0.5)
            brief = threads.submit(post, "print(1)", compile_timeout=0.1, run_timeout=0.1)
            patient = threads.submit(post, "print(2)", run_timeout=10, compile_timeout=0)
            status, answer, headers = brief.result()
            waited = time.monotonic() - begun
            assert (status, answer.keys()) == (504, {"detail"})
            assert waited >= 5.2
            assert "retry-after" in headers
            assert first.result()[0] == 200
            assert patient.result()[1]["run_result"]["stdout"] == "2\n"
        client.close()


def test_identical_requests_at_once_run_once(url):
    body = {"code": "import time; time.sleep(1); print(time.time_ns())", "language": "python"}

    def post(_):
        return httpx2.post(f"{url}/run_code", json=body, timeout=60, trust_env=False).json()

    with concurrent.futures.ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(post, range(6)))
    assert len({answer["run_result"]["stdout"] for answer in answers}) == 1
