"""Rewards, called as the trainers' own call sites call them."""

import asyncio
import gzip
import inspect
import json
import logging
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proctor import api
from proctor.errors import InputError, SandboxError
from proctor.grading.prepare import Options
from proctor.integrations import trainers
from proctor.integrations.trainers import (
    rubric_reward,
    trl_reward,
    verifiers_reward,
    verl_score,
    verl_scores,
)
from proctor.records.receipt import Receipt
from proctor.records.verdict import Bucket

TARGETS = ["add(1, 2) == 3", "add(2, 2) == 4", "add(0, 0) == 0", "add(5, -5) == 0"]
RIGHT = "Sure:\n```python\ndef add(a, b):\n    return a + b\n```\n"
HALF = "```python\ndef add(a, b):\n    return a | b if a != b else 0\n```"
WRONG = "```python\ndef add(a, b):\n    return 'no'\n```"
PROSE = "I would rather not."
TRUTH = json.dumps({"inputs": ["1 2\n", "3 4\n"], "outputs": ["3\n", "8\n"]})
PROGRAM = "```python\nprint(sum(map(int, input().split())))\n```"


def said(text: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}]


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, receipt: Callable[..., Receipt]) -> None:
    """Have every second sample be unscored: the sandbox itself works too well for that."""
    real, count = api._grade, iter(range(1000))

    def grade(*args: Any) -> Receipt:
        if next(count) % 2:
            return receipt(bucket=Bucket.HARNESS, score=None, outcome=None, detail="no disk")
        return real(*args)

    monkeypatch.setattr(api, "_grade", grade)


# TRL: reward_func(prompts=…, completions=…, completion_ids=…, **columns, trainer_state=…, …)


def trl(completions: list[Any], reward: Any = trl_reward, **columns: Any) -> Any:
    """Call a reward function as GRPOTrainer does."""
    chat = not isinstance(completions[0], str)
    prompt: Any = [{"role": "user", "content": "Write add."}] if chat else "Write add."
    return reward(
        prompts=[prompt] * len(completions),
        completions=completions,
        completion_ids=[[1, 2, 3]] * len(completions),
        **columns,
        trainer_state=SimpleNamespace(global_step=3),
        log_extra=lambda column, values: None,
        log_metric=columns.get("log_metric", lambda name, value: None),
    )


ANSWERS = [RIGHT, HALF, WRONG, PROSE]


@pytest.mark.parametrize("chat", [False, True])
def test_trl(chat: bool) -> None:
    completions = [said(text) if chat else text for text in ANSWERS]
    columns = {"assertions": [TARGETS] * 4, "difficulty": ["easy"] * 4}
    assert trl(completions, **columns) == [1.0, 0.5, 0.0, 0.0]
    strict = partial(trl_reward, partial_credit=False)
    assert trl(completions, strict, **columns) == [1.0, 0.0, 0.0, 0.0]


def test_trl_rows_may_be_checked_in_different_ways() -> None:
    rewards = trl(
        [RIGHT, PROGRAM, PROGRAM, PROSE],
        assertions=[TARGETS, None, None, TARGETS],
        ground_truth=[None, TRUTH, None, None],
        inputs=[None, None, ["5\n"], None],
        outputs=[None, None, ["5\n"], None],
    )
    assert rewards == [1.0, 0.5, 1.0, 0.0]


def test_trl_with_a_benchmark() -> None:
    prompts = ["def f():\n"] * 2
    answers = ["    return number % 1.0\n", "    return 0.0\n"]
    of_humaneval = partial(trl_reward, benchmark="humaneval", partial_credit=False)
    assert of_humaneval(prompts, answers, task_id=["HumanEval/2"] * 2) == [1.0, 0.0]
    columns = {"task_id": ["HumanEval/2"] * 2, "benchmark": ["humaneval"] * 2}
    assert trl_reward(prompts, answers, **columns)[0] == 1.0


def test_trl_answers_may_continue_the_prompt() -> None:
    bodies = ["    return a + b\n", "    return a\n"]
    rewards = trl_reward(["def add(a, b):\n"] * 2, bodies, assertions=[TARGETS] * 2)
    assert rewards == [1.0, 0.25]


def test_trl_keeps_to_limits() -> None:
    slow = "def add(a, b):\n    import time\n    time.sleep(1)\n    return a + b\n"
    given = {"assertions": [["add(1, 2) == 3"]]}
    assert trl([slow], **given) == [1.0]
    assert trl([slow], partial(trl_reward, timeout_s=0.3), **given) == [0.0]
    assert trl([slow], timeout_s=[0.3], **given) == [0.0]


def test_trl_counts_what_is_unscored(broken: None, caplog: pytest.LogCaptureFixture) -> None:
    logged = []
    log_metric = partial(lambda *pair: logged.append(pair))
    columns = {"assertions": [TARGETS] * 4}
    given = trl_reward(["p"] * 4, [RIGHT] * 4, log_metric=log_metric, **columns)
    assert given.count(None) == 2
    assert given.count(1.0) == 2
    assert logged == [("proctor/unscored", 0.5)]
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "2 of 4 samples are unscored, the first (a) because: no disk" in caplog.text
    assert trl_reward(["p"] * 4, [RIGHT] * 4, unscored=-1.0, **columns).count(-1.0) == 2


def test_trl_says_which_row_is_wrong() -> None:
    with pytest.raises(InputError, match=r"^row 1 of the batch: task: tests\.targets\[0\] is not"):
        trl([RIGHT, RIGHT], assertions=[TARGETS, ["1 +"]])
    with pytest.raises(InputError, match=r"^column assertions has 1 rows, not 2$"):
        trl([RIGHT, RIGHT], assertions=[TARGETS])
    with pytest.raises(InputError, match=r"^row 0 of the batch: no column says how to check it"):
        trl([RIGHT])
    with pytest.raises(InputError, match=r"^row 0 of the batch: a completion is int"):
        trl_reward(["p"], [3], assertions=[TARGETS])


def test_a_batch_is_graded_at_once() -> None:
    """All of it waits for one another: a batch that is graded one by one would time out."""
    together = threading.Barrier(min(api.usual_workers(), 2))
    real = api._grade

    def grade(*args: Any) -> Receipt:
        together.wait(60)
        return real(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "_grade", grade)
        assert trl([RIGHT] * 2, assertions=[TARGETS] * 2) == [1.0] * 2


def test_options_are_the_pipelines() -> None:
    code = "def add(a, b):\n    return reduce(lambda x, y: x + y, [a, b])\n"
    columns = {"assertions": [TARGETS]}
    assert trl([code], **columns) == [0.0]
    assert trl([code], partial(trl_reward, options=Options(preamble="base")), **columns) == [1.0]


CHEATS = {
    "leaves": "import os\nos._exit(0)\n",
    "equals everything": (
        "class Yes(int):\n    __eq__ = lambda self, other: True\n    __hash__ = None\n"
        "def add(a, b):\n    return Yes(17)\n"
    ),
    "patches": "import builtins\nbuiltins.AssertionError = Exception\ndef add(a, b): return None\n",
    "kills the keeper": "import os, signal\nos.kill(1, signal.SIGKILL)\nos.kill(-1, signal.SIGKILL)\n",
    "eats memory": "x = 'x' * (1 << 40)\n",
    "floods": "import os\nwhile True: os.write(1, b'x' * 65536)\n",
    "writes a verdict": "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'passed')\n    except OSError: pass\n",
    "sleeps": "import time\ntime.sleep(100)\n",
    "never ends its fence": "```python\ndef add(a, b):\n    return a +",
    "is too deep": "(" * 100_000,
    "is too long": "x = 1\n" * 400_000,
    "is empty": "",
    "is no text": "\x00\ud800",
}


def test_no_reward_for_breaking_the_harness() -> None:
    """Nor a None, which would be worth more than a 0 to a policy that knows no better."""
    texts = list(CHEATS.values())
    columns = {"assertions": [TARGETS] * len(texts), "timeout_s": [1.0] * len(texts)}
    assert dict(zip(CHEATS, trl(texts, **columns), strict=True)) == dict.fromkeys(CHEATS, 0.0)


def test_trl_takes_it_for_a_reward_function() -> None:
    """What TRL asks of one: a name to log, by way of partial, and that it is not asynchronous."""
    assert trl_reward.__name__ == "trl_reward"
    assert not inspect.iscoroutinefunction(trl_reward)
    assert next(iter(inspect.signature(trl_reward).parameters.values())).name == "prompts"


# verl: compute_score(data_source=…, solution_str=…, ground_truth=…, extra_info=…, **reward_kwargs)


def verl(solution: str, truth: Any, source: str = "taco", **reward_kwargs: Any) -> float:
    """Call a reward function as verl's naive reward manager does."""
    return verl_score(
        data_source=source,
        solution_str=solution,
        ground_truth=truth,
        extra_info={"num_turns": 2, "rollout_reward_scores": {}},
        reward_router_address=None,
        reward_model_tokenizer=None,
        **reward_kwargs,
    )


def test_verl() -> None:
    assert verl(PROGRAM, TRUTH) == 0.5
    assert verl(PROGRAM, json.loads(TRUTH), partial_credit=False) == 0.0
    assert verl(PROSE, TRUTH) == 0.0
    assert verl("    return number % 1.0\n", "HumanEval/2", source="humaneval") == 1.0
    assert verl_score("taco", PROGRAM, TRUTH, None) == 0.5  # the prime manager's way


def test_verl_functions_and_methods() -> None:
    truth = {"fn_name": "pick", "inputs": ["[3, 1]\n0", "[2]\n0"], "outputs": ["3", "[2]"]}
    method = (
        "class Solution:\n    def pick(self, xs: List[int], i: int) -> int:\n        return xs[i]\n"
    )
    assert verl(method, json.dumps(truth)) == 1.0  # List is expected to be there
    assert verl("def pick(xs, i):\n    return max(xs)\n", truth) == 1.0
    assert verl("def pick(xs, i):\n    return 3\n", truth) == 0.5
    assert verl("def other(xs, i):\n    return 3\n", truth) == 0.0


def test_verl_assertions() -> None:
    assert verl(HALF, {"assert_case": TARGETS}) == 0.5


def test_verl_gets_a_number_for_what_is_unscored(
    broken: None, caplog: pytest.LogCaptureFixture
) -> None:
    values = {verl(PROGRAM, TRUTH, unscored=0.25) for _ in range(2)}
    assert values == {0.5, 0.25}
    assert {verl(PROGRAM, TRUTH) for _ in range(2)} == {0.5, 0.0}
    assert caplog.text.count("1 of 1 samples are unscored") == 2


def test_verl_says_what_is_wrong() -> None:
    with pytest.raises(InputError, match=r"^ground_truth is not JSON"):
        verl(PROGRAM, "42 apples")
    with pytest.raises(InputError, match=r"^task_id: humaneval has no task 'HumanEval/x'$"):
        verl(PROGRAM, "HumanEval/x", source="humaneval")


def test_verl_in_batches() -> None:
    scores = verl_scores(
        data_sources=["taco", "taco", "humaneval"],
        solution_strs=[PROGRAM, PROSE, "    return number % 1.0\n"],
        ground_truths=[TRUTH, TRUTH, "HumanEval/2"],
        extra_infos=[{"rollout_reward_scores": {}}] * 3,
        timeout_s=2.0,
    )
    assert scores == [0.5, 0.0, 1.0]
    with pytest.raises(InputError, match=r"^row 1 of the batch: ground_truth is not JSON"):
        verl_scores(["a", "b"], [PROGRAM] * 2, [TRUTH, "x"])


def test_solutions_of_a_real_training_set(data: Path) -> None:
    with gzip.open(data / "contests" / "leetcode.json.gz", "rt") as file:
        rows = json.load(file)[:24]
    solutions = [row["solutions"] for row in rows]
    texts = [one if isinstance(one, str) else one[0] for one in solutions]
    truths = [json.dumps(row["tests"]) for row in rows]
    assert verl_scores(["leetcode"] * 24, texts, truths, timeout_s=10.0) == [1.0] * 24
    others = verl_scores(["leetcode"] * 24, [*texts[1:], texts[0]], truths, timeout_s=10.0)
    assert sum(others) < 4  # some tasks are the same, with larger inputs


# verifiers: a rubric calls func(**objects) by name; a task of version 1 reward(task=…, trace=…)


def rubric(completion: Any, **objects: Any) -> float:
    """Call a reward function as a rubric does, which gives all it has to **kwargs."""
    merged = {
        "prompt": [{"role": "user", "content": "Write add."}],
        "completion": completion,
        "answer": "",
        "state": {"reward": None},
        "info": {},
        "task": "default",
        "parser": object(),
        **objects,
    }
    return asyncio.run(rubric_reward(**merged))


def test_a_rubric() -> None:
    info = {"assertions": TARGETS, "timeout_s": 2.0}
    assert rubric(said(HALF), info=info) == 0.5
    assert rubric(said(HALF), info=json.dumps(info)) == 0.5
    assert rubric(HALF, info=info, partial_credit=False) == 0.0
    assert rubric(said(PROGRAM), answer=TRUTH) == 0.5
    assert rubric(said(HALF), assertions=TARGETS) == 0.5  # a column of the dataset
    assert rubric([], info=info) == 0.0


def test_a_rubric_gets_a_number_for_what_is_unscored(broken: None) -> None:
    values = {rubric(RIGHT, info={"assertions": TARGETS}, unscored=0.5) for _ in range(2)}
    assert values == {1.0, 0.5}


def test_a_rubric_sees_one_rollout() -> None:
    """Plural names would make verifiers pass a whole group."""
    names = set(inspect.signature(rubric_reward).parameters)
    assert not names & {"states", "prompts", "completions", "answers", "tasks", "infos"}
    assert inspect.iscoroutinefunction(rubric_reward)


def test_a_real_rubric() -> None:
    vf = pytest.importorskip("verifiers", reason="verifiers is not installed")
    if not hasattr(vf, "Rubric"):
        pytest.skip(f"verifiers {vf.__version__} has no rubrics any more")
    state = vf.State(
        prompt=[{"role": "user", "content": "Write add."}],
        completion=said(HALF),
        answer="",
        info={"assertions": TARGETS},
        task="default",
        timing={"scoring_ms": 0.0, "total_ms": 0.0},
    )
    asyncio.run(vf.Rubric(funcs=[rubric_reward]).score_rollout(state))
    assert state["reward"] == 0.5


class Data(SimpleNamespace):
    """The data of a task, as pydantic makes them."""

    def model_dump(self) -> dict[str, Any]:
        return vars(self)


def verifiers(reply: str, **fields: Any) -> float:
    """Call a reward function as a task of verifiers does: with those that its parameters name."""
    task = Data(idx=0, prompt="Write add.", timeout=None, **fields)
    available = {"task": task, "trace": SimpleNamespace(last_reply=reply), "runtime": None}
    named = inspect.signature(verifiers_reward).parameters
    return asyncio.run(verifiers_reward(**{k: v for k, v in available.items() if k in named}))


def test_a_task_of_verifiers() -> None:
    assert verifiers(HALF, assertions=TARGETS) == 0.5
    assert verifiers(PROGRAM, answer=TRUTH) == 0.5
    with pytest.raises(InputError, match="no column says how to check it"):
        verifiers(HALF)


def test_an_unscored_rollout_has_failed(broken: None) -> None:
    assert verifiers(RIGHT, assertions=TARGETS) == 1.0
    with pytest.raises(SandboxError, match=r"^the rollout is unscored: no disk$"):
        verifiers(RIGHT, assertions=TARGETS)


def test_rollouts_of_one_loop_are_graded_at_once() -> None:
    async def main() -> list[float]:
        info = {"assertions": TARGETS}
        return await asyncio.gather(*(rubric_reward(text, info=info) for text in ANSWERS * 4))

    assert asyncio.run(main()) == [1.0, 0.5, 0.0, 0.0] * 4


def test_every_function_is_in_the_table() -> None:
    functions = {name for name, value in vars(trainers).items() if inspect.isfunction(value)}
    public = {name for name in functions if "_rew" in name or "_score" in name} - {"_reward"}
    assert public
    for name in public:
        assert f"`{name}`" in (trainers.__doc__ or "")
