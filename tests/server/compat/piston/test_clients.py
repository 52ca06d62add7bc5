"""Clients that know Piston and nothing of Proctor: one by its documentation, and open-r1's way."""

import asyncio
import itertools

import httpx2
import pytest

from tests.requires import requires


class Piston:
    """A client made from Piston's public documentation."""

    def __init__(self, url):
        self._http = httpx2.Client(base_url=f"{url}/api/v2", timeout=60, trust_env=False)

    def runtimes(self):
        return self._http.get("/runtimes").raise_for_status().json()

    def run(self, language, version, code, **more):
        """Run code in the newest runtime that fits, and return what it printed."""
        fitting = [
            one
            for one in self.runtimes()
            if language == one["language"] or language in one["aliases"]
        ]
        body = {
            "language": fitting[0]["language"],
            "version": version,
            "files": [{"name": "my_cool_code", "content": code}],
            "stdin": "",
            "args": ["1", "2", "3"],
            "compile_timeout": 10000,
            "run_timeout": 3000,
            "compile_cpu_time": 10000,
            "run_cpu_time": 3000,
            "compile_memory_limit": -1,
            "run_memory_limit": -1,
            **more,
        }
        answer = self._http.post("/execute", json=body)
        if answer.status_code != 200:
            raise ValueError(answer.json()["message"])
        stages = answer.json()
        for name in ("compile", "run"):
            stage = stages.get(name)
            if stage and (stage["code"] != 0 or stage["signal"]):
                raise RuntimeError(f"{name} {stage.get('status')}: {stage['stderr']}")
        return stages["run"]["stdout"]


@pytest.fixture
def piston(server):
    return Piston(server.url)


def test_by_its_documentation(piston):
    assert piston.run("py", "3.x", "import sys; print(sys.argv[1:])") == "['1', '2', '3']\n"
    with pytest.raises(RuntimeError, match="run RE"):
        piston.run("python", "*", "1 / 0")
    with pytest.raises(RuntimeError, match="run TO"):
        piston.run("python", "*", "while True: pass", run_timeout=500)
    with pytest.raises(ValueError, match=r"python-2\.x runtime is unknown"):
        piston.run("python", "2.x", "print 1")
    with pytest.raises(ValueError, match="cannot exceed the configured limit"):
        piston.run("python", "*", "", run_timeout=10**9)


class OpenR1:
    """What open-r1 does: a request a test, tried again unless it is answered with 200."""

    def __init__(self, url):
        self._base = f"{url}/api/v2/"
        self.asked = itertools.count()

    async def score(self, http, problem, submission, language):
        tests = problem["official_tests"]
        answers = await asyncio.gather(
            *(self._one(http, problem, test, submission, language) for test in tests)
        )
        if any(answer and answer["compile"]["code"] != 0 for answer in answers):
            return -0.1
        passed = sum(
            answer["run"]["code"] == 0 and answer["run"]["stdout"].strip() == "1"
            for answer in answers
        )
        return float(passed == len(tests)) + 0.1 * passed / len(tests)

    async def _one(self, http, problem, test, submission, language):
        config = {
            "TIME_LIMIT": problem["time_limit"],
            "MEMORY_LIMIT": problem["memory_limit"],
            "INPUT_MODE": problem["input_mode"],
        }
        checker = problem["generated_checker"]
        body = {
            "files": [
                {"name": f"main.{language}", "content": submission},
                *([{"name": "checker.py", "content": checker}] if checker else []),
                {"name": "input.txt", "content": test["input"]},
                {"name": "correct_output.txt", "content": test["output"]},
                {
                    "name": "grader_config",
                    "content": "\n".join(f"{name}={value}" for name, value in config.items()),
                },
            ],
            "run_timeout": (problem["time_limit"] + 10) * 1000,
            "language": "cf_python3" if language == "python" else "c++17",
            "version": "*",
        }
        for _ in range(6):
            next(self.asked)
            answer = await http.post(f"{self._base}execute", json=body)
            if answer.status_code == 200 and answer.json() is not None:
                found = answer.json()
                if "Resource temporarily unavailable" not in found["run"].get("stderr", ""):
                    return found
            await asyncio.sleep(1)
        return None


PROBLEM = {
    "official_tests": [{"input": f"{n} 1\n", "output": f"{n + 1}\n"} for n in range(6)],
    "time_limit": 2.0,
    "memory_limit": 256.0,
    "input_mode": "stdio",
    "generated_checker": None,
}
ADD = "print(sum(map(int, input().split())))"
ADD_CPP = "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b; }"


@pytest.mark.parametrize(
    ("submission", "language", "score"),
    [
        (ADD, "python", 1.1),
        ("a, b = map(int, input().split())\nprint(a + b if a else 0)", "python", 0.1 * 5 / 6),
        ("def f(:", "python", 0.0),
        (ADD_CPP, "cpp", 1.1),
        ("int main() { return x; }", "cpp", -0.1),
    ],
)
def test_open_r1_scores_submissions_right(server, languages, submission, language, score):
    if language == "cpp":
        requires("cpp")
        assert "c++17" in languages
    client = OpenR1(server.url)

    async def ask():
        async with httpx2.AsyncClient(timeout=60, trust_env=False) as http:
            return await client.score(http, PROBLEM, submission, language)

    assert asyncio.run(ask()) == pytest.approx(score)
    assert next(client.asked) == len(PROBLEM["official_tests"]), "something was asked twice"
