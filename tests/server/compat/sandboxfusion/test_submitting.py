"""/submit: completions judged, and what results come to."""

import json

import pytest

from tests.requires import requires_language

ADD = {
    "task_id": "mine/1",
    "prompt": 'def add(a, b):\n    """Add."""\n',
    "entry_point": "add",
    "tests": {
        "kind": "assertions",
        "targets": ["add(1, 2) == 3", "add(0, 0) == 0", "add(2, 2) == 4"],
    },
}
DOUBLE = {
    "id": 7,
    "content": "Print the double of a number.",
    "test": [{"input": {"stdin": f"{n}\n"}, "output": {"stdout": f"{2 * n}\n"}} for n in (1, 2, 3)],
}
RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
FIELDS = {
    *("id", "accepted", "extracted_code", "full_code", "test_code", "tests", "extracted_type"),
    "extra",
}


@pytest.fixture
def submit(ask):
    def post(row, completion, **config):
        more = {"dataset_type": "AnyDataset", "provided_data": row, **config}
        asked = {
            "dataset": "mine",
            "id": row.get("id", 1),
            "completion": completion,
            "config": more,
        }
        status, answer = ask("/submit", asked)
        assert status == 200, answer
        return answer

    return post


def test_a_right_completion(submit):
    answer = submit(ADD, f"Sure!\n\n{RIGHT}\n\nThat is it.")
    assert answer.keys() == FIELDS
    assert (answer["id"], answer["accepted"], answer["extracted_type"]) == (
        "mine/1",
        True,
        "fenced",
    )
    assert answer["extracted_code"] == "def add(a, b):\n    return a + b\n"
    assert "add(1, 2) == 3" not in answer["full_code"]
    assert [test["passed"] for test in answer["tests"]] == [True] * 3
    assert answer["tests"][0]["exec_info"]["status"] == "Success"
    assert answer["tests"][0]["exec_info"].keys() == {
        *("status", "message", "compile_result", "run_result", "executor_pod_name", "files")
    }


@pytest.mark.parametrize(
    ("completion", "kind"),
    [
        (RIGHT, "fenced"),
        (RIGHT.removesuffix("```"), "incomplete_fenced"),
        ("def add(a, b):\n    return a + b\n", "heuristic"),
        ("    return a + b\n", "heuristic"),
    ],
)
def test_how_code_was_found(submit, completion, kind):
    answer = submit(ADD, completion)
    assert (answer["accepted"], answer["extracted_type"]) == (True, kind)


def test_a_completion_without_code(submit):
    answer = submit(ADD, "")
    assert (answer["accepted"], answer["extracted_type"], answer["extracted_code"]) == (
        *(False, "empty"),
        "",
    )
    assert [test["passed"] for test in answer["tests"]] == [False]
    assert answer["extra"]["bucket"] == "no_code"


def test_a_wrong_completion_and_whether_all_tests_are_run(submit):
    wrong = "def add(a, b):\n    return a - b if a else 0\n"
    first = submit(ADD, wrong)
    assert (first["accepted"], first["extra"]["bucket"]) == (False, "wrong_answer")
    every = submit(ADD, wrong, extra={"run_all_cases": True})
    assert [test["passed"] for test in every["tests"]] == [False, True, False]
    assert every["tests"][0]["exec_info"]["run_result"]["return_code"] == 1


def test_time_is_what_the_request_says(submit):
    answer = submit(ADD, "def add(a, b):\n    while True: pass\n", run_timeout=0.5)
    told = answer["tests"][-1]["exec_info"]
    assert (answer["accepted"], told["run_result"]["status"]) == (False, "TimeLimitExceeded")
    assert told["run_result"]["return_code"] is None


def test_whole_programs_in_a_language_of_choice(submit, kernel):
    python = "```python\nprint(2 * int(input()))\n```"
    answer = submit(DOUBLE, python, language="python")
    assert (answer["accepted"], answer["id"], len(answer["tests"])) == (True, 7, 3)
    wrong = submit(
        DOUBLE,
        "print(2)",
        language="python",
        extra={"run_all_cases": True, "return_full_case": True},
    )
    assert [test["passed"] for test in wrong["tests"]] == [True, False, False]
    assert wrong["tests"][1]["exec_info"]["status"] == "Success"
    assert wrong["tests"][1]["exec_info"]["run_result"]["stdout"] == "2\n"
    assert wrong["tests"][1]["test_info"]["input"] == {"stdin": "2\n"}
    assert wrong["tests"][1]["test_info"]["output"] == {"stdout": "4\n"}
    requires_language(kernel, "cpp")
    cpp = (
        "```cpp\n#include <iostream>\nint main() { int n; std::cin >> n; std::cout << 2 * n; }\n```"
    )
    assert submit(DOUBLE, cpp, language="cpp")["accepted"]
    broken = submit(DOUBLE, "```cpp\nint main() { return x; }\n```", language="cpp")
    assert broken["tests"][0]["exec_info"]["compile_result"]["return_code"] == 1
    assert broken["tests"][0]["exec_info"]["run_result"] is None


def test_a_language_that_does_not_run_here(ask):
    config = {"dataset_type": "CommonOJDataset", "provided_data": DOUBLE, "language": "ruby"}
    asked = {"dataset": "mine", "id": 7, "completion": "puts 1", "config": config}
    status, answer = ask("/submit", asked)
    assert (status, answer) == (400, {"detail": "config.language: ruby does not run here"})


LOGIC = """
mark = completion.index("BEGIN") + 6
submit_code_blocks([CodeBlock(priority=40, language="python", code=completion[mark:])])
"""


def test_logic_of_one_s_own_finds_the_code(submit):
    text = "```python\ndef add(a, b):\n    return 0\n```\nBEGIN\ndef add(a, b):\n    return a + b\n"
    assert not submit(ADD, text)["accepted"]
    answer = submit(ADD, text, custom_extract_logic=LOGIC)
    assert (answer["accepted"], answer["extracted_type"]) == (True, None)
    assert answer["extracted_code"].strip() == "def add(a, b):\n    return a + b"
    body = submit(ADD, "BEGIN     return a + b\n", custom_extract_logic=LOGIC)
    assert body["accepted"]


def test_the_worthiest_block_is_taken(submit):
    text = f"{RIGHT}\n"
    low = LOGIC.replace('mark = completion.index("BEGIN") + 6', "mark = 0").replace("40", "5")
    assert submit(ADD, text, custom_extract_logic=low)["accepted"]
    helpers = (
        "fenced = extract_fenced_code(completion)\n"
        "assert [b.language for b in fenced] == ['python'] and fenced[0].priority == 30\n"
        "assert extract_heuristic_code('def f(): pass', 'python')[0].priority == 10\n"
        "submit_code_blocks([CodeBlock(priority=40, language='go', code='x'),"
        " CodeBlock(priority=40, language='python', code=fenced[0].code)])\n"
    )
    assert submit(ADD, text, custom_extract_logic=helpers)["accepted"]


@pytest.mark.parametrize(
    ("logic", "said"),
    [
        ("raise ValueError('no')", "ValueError: no"),
        ("(", "SyntaxError"),
        ("submit_code_blocks(['text'])", "AssertionError"),
        ("import os; os._exit(0)", "hands over no blocks"),
        ("import os; os.kill(os.getppid(), 9)", "custom_extract_logic"),
        ("print(open('/etc/shadow').read())", "Error"),
        ("import socket; socket.socket()", "Error"),
    ],
)
def test_logic_that_fails_fails_in_the_sandbox(ask, submit, logic, said):
    config = {"dataset_type": "X", "provided_data": ADD, "custom_extract_logic": logic}
    asked = {"dataset": "mine", "id": 1, "completion": RIGHT, "config": config}
    status, answer = ask("/submit", asked)
    assert status == 400, answer
    assert said in answer["detail"]
    assert submit(ADD, RIGHT)["accepted"], "the service is as well as before"


def test_logic_cannot_reach_into_the_server(submit):
    logic = (
        "import sys, os\n"
        "seen = [name for name in sys.modules if name.startswith(('proctor', 'litestar'))]\n"
        "assert not seen, seen\n"
        "submit_code_blocks([CodeBlock(40, 'python', 'def add(a, b): return a + b')])\n"
    )
    assert submit(ADD, "nothing", custom_extract_logic=logic)["accepted"]


def test_hostile_completions_are_not_accepted(submit):
    for code in (
        "import os\nos._exit(0)",
        "class E:\n    def __eq__(self, o): return True\ndef add(a, b): return E()",
        "import sys\ndef add(a, b):\n    sys.exit(0)",
        "def add(a, b):\n    import inspect\n    return inspect.stack()[1].frame.f_locals['expected']",
    ):
        assert not submit(ADD, f"```python\n{code}\n```")["accepted"], code


def test_metrics(ask):
    result = {"extracted_code": "", "tests": []}
    results = [{"id": n, "accepted": n % 2 == 0, **result} for n in range(10)]
    asked = {"dataset": "humaneval_python", "config": {}, "results": results}
    status, answer = ask("/get_metrics", asked)
    assert status == 200
    assert answer["pass@1"]["value"] == 0.5
    assert answer["pass@1"]["low"] < 0.5 < answer["pass@1"]["high"]
    assert ask("/get_metrics", {**asked, "results": []}) == (200, {})
    assert ask("/get_metrics", {"dataset": "x", "config": {}})[0] == 422
    assert ask("/get_metrics", {**asked, "results": [{"id": 1}]})[0] == 422
    assert ask("/get_metrics_function", {"dataset": "x", "config": {}}) == (200, {"function": None})
    json.dumps(answer)
