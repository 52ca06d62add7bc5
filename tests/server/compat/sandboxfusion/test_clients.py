"""The clients that people have: SandboxFusion's own package, and what verl does."""

import asyncio
import concurrent.futures
import time

import httpx2
import pytest

from tests.requires import requires

ADD = {
    "task_id": "mine/1",
    "prompt": "def add(a, b):\n",
    "entry_point": "add",
    "tests": {"kind": "assertions", "targets": ["add(1, 2) == 3"]},
}
ROWS = {"dataset_type": "AutoEvalDataset", "provided_data": ADD}


@pytest.fixture
def theirs(url):
    """Return the package, told where we are and nothing else."""
    requires("sandbox-fusion")
    import sandbox_fusion as package

    package.set_endpoint(url)
    return package


def test_its_client_runs_code(theirs):
    request = theirs.RunCodeRequest(code="print(input())", stdin="hello", language="python")
    answer = theirs.run_code(request)
    assert answer.status == theirs.RunStatus.Success
    assert (answer.run_result.stdout, answer.compile_result) == ("hello\n", None)


@pytest.mark.requires("cpp")
def test_its_client_tells_what_became_of_a_program(theirs):
    mapping = theirs.SummaryMapping(
        Success="ok", Failed="failed", RunFailed="crash", RunTimeout="slow", CompileFailed="compile"
    )
    for code, language, expected in (
        ("print(1)", "python", "ok"),
        ("raise SystemExit(1)", "python", "crash"),
        ("while True: pass", "python", "slow"),
        ("int main() { return x; }", "cpp", "compile"),
    ):
        request = theirs.RunCodeRequest(code=code, language=language, run_timeout=1)
        answer = theirs.run_code(request, max_attempts=1)
        assert theirs.summary_run_code_result(answer, mapping) == expected


def test_its_client_raises_what_is_no_answer(theirs):
    request = theirs.RunCodeRequest(code="select 1", language="sql")
    with pytest.raises(Exception, match="'sql' None"):
        theirs.run_code(request, max_attempts=1)


def test_its_client_moves_files(theirs):
    request = theirs.RunCodeRequest(
        code="open('out', 'w').write(open('in').read() * 2)",
        language="python",
        files={"in": "YQ=="},
        fetch_files=["out"],
    )
    assert theirs.run_code(request).files == {"out": "YWE="}


def test_its_client_without_waiting(theirs):
    request = theirs.RunCodeRequest(code="print(1)", language="python")
    answer = asyncio.run(theirs.run_code_async(request))
    assert answer.run_result.stdout == "1\n"


def test_its_client_runs_many_at_once(theirs):
    args = [[theirs.RunCodeRequest(code=f"print({n})", language="python")] for n in range(20)]
    answers = theirs.run_concurrent(theirs.run_code, args=args, concurrency=10)
    assert [answer.run_result.stdout for answer in answers] == [f"{n}\n" for n in range(20)]


def test_its_client_asks_for_problems_and_submits(theirs):
    config = theirs.TestConfig(**ROWS)
    prompts = theirs.get_prompts(theirs.GetPromptsRequest(dataset="mine", config=config))
    assert [prompt.id for prompt in prompts] == ["mine/1"]
    asked = theirs.GetPromptByIdRequest(dataset="mine", config=config, id="mine/1")
    assert theirs.get_prompt_by_id(asked) == prompts[0]
    for code, accepted in (("    return a + b\n", True), ("    return a\n", False)):
        request = theirs.SubmitRequest(dataset="mine", id="mine/1", completion=code, config=config)
        answer = theirs.submit(request, max_attempts=1)
        assert (answer.accepted, answer.extracted_type) == (accepted, "heuristic")
    request = theirs.SubmitRequest(dataset="nothing", id=1, completion="", config={})
    assert not theirs.submit_safe(request, max_attempts=1).accepted


class Verl:
    """What a trainer does with one sample: a request a test, another try for 504 alone."""

    def __init__(self, url, seconds=5, memory_limit_mb=1024):
        self._url = f"{url}/run_code"
        self._seconds, self._memory = seconds, memory_limit_mb

    def score(self, code, cases, language="python"):
        with concurrent.futures.ThreadPoolExecutor(32) as threads:
            results = list(threads.map(lambda case: self._try(code, *case, language), cases))
        return sum(result is True for result in results) / len(results), results

    def _try(self, code, stdin, expected, language):
        body = {
            "compile_timeout": self._seconds,
            "run_timeout": self._seconds,
            "code": code,
            "stdin": stdin,
            "memory_limit_MB": self._memory,
            "language": language,
            "files": {},
            "fetch_files": [],
        }
        for attempt in range(3):
            answer = httpx2.post(
                self._url, json=body, timeout=2 * self._seconds + 10, trust_env=False
            )
            if answer.status_code != 504:
                break
            time.sleep(attempt + 1)
        answer.raise_for_status()
        return self._verdict(answer.json(), expected)

    def _verdict(self, answer, expected):
        if answer["status"] == "SandboxError":
            return -1
        compiled, ran = answer["compile_result"], answer["run_result"]
        if compiled and (compiled["status"] != "Finished" or compiled["return_code"]):
            return -4
        if ran["status"] == "TimeLimitExceeded":
            return -3
        if ran["return_code"]:
            return -2
        return ran["stdout"].rstrip("\n") == expected.rstrip("\n")


CASES = [(f"{n}\n", f"{2 * n}\n") for n in range(15)]


@pytest.mark.parametrize(
    ("code", "language", "score", "first"),
    [
        ("print(2 * int(input()))", "python", 1.0, True),
        ("n = int(input())\nprint(2 * n if n else 1)", "python", 14 / 15, False),
        ("n = int(input())\nif n == 0: raise ValueError\nprint(2 * n)", "python", 14 / 15, -2),
        ("n = int(input())\nwhile n == 0: pass\nprint(2 * n)", "python", 14 / 15, -3),
        ("def f(:", "python", 0.0, -2),
        (
            "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << 2 * n; }",
            *("cpp", 1.0, True),
        ),
        ("int main() { return x; }", "cpp", 0.0, -4),
    ],
)
def test_a_trainer_scores_samples_right(url, code, language, score, first):
    if language == "cpp":
        requires("cpp")
    found, results = Verl(url, seconds=2).score(code, CASES, language)
    assert (found, results[0]) == (score, first)


def test_a_trainer_waits_for_its_turn_rather_than_failing(url):
    """Many samples at once on two workers: each waits, and none is scored for that."""
    verl = Verl(url, seconds=10)
    slow = "import time; time.sleep(0.1); print(2 * int(input()))"
    with concurrent.futures.ThreadPoolExecutor(4) as samples:
        scores = list(samples.map(lambda _: verl.score(slow, CASES)[0], range(4)))
    assert scores == [1.0] * 4
