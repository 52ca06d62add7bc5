"""`perplexity`, `parity` and `bench model` as commands: what they print, how they end."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.models.checkpoints import save_known_bad
from tests.models.conftest import Server, status
from tests.models.conftest import server as _server
from tests.models.test_prompt_logprobs import serve

server = _server
Proctor = Callable[..., Any]
TEXT = "def one():\n    return 1\n"
PROGRAM = """
import json, sys
for line in sys.stdin:
    one = json.loads(line)
    print(json.dumps({"task_id": one["task_id"], "text": sys.argv[1]}), flush=True)
"""


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    save_known_bad(folder / "bad", [TEXT])
    save_known_bad(folder / "worse", [TEXT + "0123456789"])
    return folder


@pytest.fixture
def echo(alone: Path) -> Callable[[str], str]:
    """Return a function that makes a model which always says the same."""
    file = alone / "echo.py"
    file.write_text(PROGRAM)
    return lambda text: f"command:{sys.executable} {file} {text}"


def test_perplexity(proctor: Proctor, checkpoints: Path) -> None:
    Path("t.txt").write_text(TEXT * 20)
    args = ("perplexity", "--model", checkpoints / "bad", "--data", "t.txt", "--context", "64")
    ran = proctor(*args, "--json")
    assert ran.status == 0
    found = json.loads(ran.out)
    assert found["tokens"] == found["bytes"] == len(TEXT) * 20 - 1
    assert (found["documents"], found["context"], found["least_context"]) == (1, 64, 32)
    assert found["per_token"]["low"] < found["per_token"]["value"] < found["per_token"]["high"]
    ran = proctor(*args)
    lines = ran.out.splitlines()
    assert lines[0] == "t.txt · transformers:bad"
    assert lines[2].startswith(f"  perplexity per token  {found['per_token']['value']:.4g}  [")
    assert "1 first tokens have nothing before them: not scored" in ran.out
    assert "Student's t over 7 blocks" in ran.out


def test_perplexity_of_a_server(proctor: Proctor, server: Server) -> None:
    server.always = serve(tokenizes=False)
    Path("t.jsonl").write_text('{"text": "hello"}\n{"text": "world"}\n')
    args = ("perplexity", "--model", "openai:m", "--data", "t.jsonl", "--base-url", server.url)
    ran = proctor(*args)
    assert ran.status == 0
    assert "10 tokens, 10 bytes, 2 documents, each in one piece" in ran.out
    assert "no interval: fewer than 320 tokens" in ran.out
    assert json.loads(proctor(*args, "--json").out)["context"] is None


BAD_PERPLEXITY = [
    (
        ["--model", "reference"],
        "--model reference: is asked nothing, its answers are there already",
    ),
    (["--model", "nope:x"], "--model nope:x: no such provider; known are "),
    (["--model", "command:true"], "--model command:true: does not say how likely a text is"),
    (["--model", "command:true", "--device", "cpu"], "--device: only for transformers, not comm"),
    (["--model", "llama:no.gguf"], "--model llama:no.gguf: "),
    (["--model", "x", "--data", "no.txt"], "cannot read no.txt: No such file or directory"),
    (["--model", "x", "--data", "."], "cannot read .: it is a folder"),
    (["--model", "x", "--data", "bad.jsonl"], "bad.jsonl, line 2: field text must be a string"),
    (["--model", "x", "--context", "1"], "Invalid value for '--context': "),
]


@pytest.mark.parametrize(("args", "said"), BAD_PERPLEXITY)
def test_perplexity_of_what_is_none(proctor: Proctor, args: list[str], said: str) -> None:
    Path("t.txt").write_text(TEXT)
    Path("bad.jsonl").write_text('{"text": "a"}\n{"text": 1}\n')
    ran = proctor("perplexity", "--data", "t.txt", *args)
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint.startswith(said)


def test_a_checkpoint_on_a_device_that_is_none(proctor: Proctor, checkpoints: Path) -> None:
    Path("t.txt").write_text(TEXT)
    ran = proctor(
        "perplexity", "--data", "t.txt", "--model", checkpoints / "bad", "--device", "\x1b[31m"
    )
    assert (ran.status, ran.out) == (2, "")
    assert "--device \\x1b[31m: " in ran.err.splitlines()[-1]


def test_parity_with_itself_passes_every_gate(proctor: Proctor, checkpoints: Path) -> None:
    bad = checkpoints / "bad"
    Path("p.jsonl").write_text('{"prompt": "def one():\\n"}\n')
    args = ("parity", bad, bad, "--prompts", "p.jsonl", "--max-tokens", 12)
    ran = proctor(*args, "--gate", 0, "--gate-logprob", 0, "--json")
    assert ran.status == 0
    found = json.loads(ran.out)
    assert (found["prompts"], found["differing"], found["divergences"]) == (1, 0, [])
    assert 1 <= found["logprobs"]["tokens"] <= 12
    assert found["logprobs"]["mean_difference"] == 0
    assert found["gate"]["passed"] is True
    ran = proctor(*args, "--gate", 0)
    assert "0 of 1 texts differ" in ran.out
    assert ran.out.endswith("gate: passed\n")


@pytest.mark.slow
def test_parity_with_another_does_not(proctor: Proctor, checkpoints: Path) -> None:
    bad, worse = checkpoints / "bad", checkpoints / "worse"
    Path("p.jsonl").write_text('{"prompt": "def one():\\n", "task_id": "\\u001b[31m"}\n')
    args = ("parity", bad, worse, "--prompts", "p.jsonl", "--max-tokens", 30)
    assert proctor(*args).status == 0, "without a gate it only tells"
    ran = proctor(*args, "--gate", 0.5)
    assert ran.status == 1
    assert "\\x1b[31m parts at character" in ran.out
    assert "gate: NO: 1 of the texts differ, which is above 0.5" in ran.out
    ran = proctor(*args, "--gate", 0.5, "--json")
    assert ran.status == 1
    assert json.loads(ran.out)["gate"]["passed"] is False


def test_parity_asks_the_prompts_of_basics(proctor: Proctor, echo: Callable[[str], str]) -> None:
    ran = proctor("parity", echo("same"), echo("sand"), "--samples", 12, "--json")
    assert ran.status == 0
    found = json.loads(ran.out)
    assert (found["prompts"], found["differing"], found["logprobs"]) == (12, 12, None)
    assert found["divergences"][0] == {"task_id": "basics/add", "position": 2, "a": "me", "b": "nd"}
    ran = proctor("parity", echo("same"), echo("sand"), "--samples", 12)
    assert "and 2 more; --json has them all" in ran.out
    assert "no log-probabilities: command:" in ran.out


def test_parity_with_answers_missing_is_degraded(
    proctor: Proctor, server: Server, echo: Callable[[str], str]
) -> None:
    server.plan = [status(400), status(400)]  # with log-probabilities, and without
    args = (echo("x"), "openai:m", "--base", "--base-url", server.url, "--samples", 2)
    ran = proctor("parity", *args)
    assert ran.status == 1
    assert "DEGRADED: no answer to basics/add: " in ran.out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["reference", "x"], "--model reference: is asked nothing"),
        (["command:true", "wrong"], "--model wrong: is asked nothing"),
        (["command:true", "/no/x"], "--model /no/x: neither a .gguf file nor a folder"),
        (["command:true", "command:true", "--gate", "2"], "Invalid value for '--gate': "),
        (
            ["command:true", "command:true", "--gate-logprob", "nan"],
            "Invalid value for '--gate-logprob': ",
        ),
        (["command:true", "command:true", "--gate", "nan"], "Invalid value for '--gate': "),
        (["command:true", "command:true", "--prompts", "no.jsonl"], "cannot read no.jsonl: No suc"),
        (["command:true", "command:true", "--benchmark", "nope"], "nope: "),
        (
            ["command:true", "openai:m"],
            "command:true, openai:m: only one of them chats; say --chat",
        ),
        (["command:true", "command:true"], "no prompt was answered by both: command:true ended"),
    ],
)
def test_parity_of_what_is_none(proctor: Proctor, args: list[str], said: str) -> None:
    ran = proctor("parity", *args)
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint.startswith(said)


def test_bench_model(proctor: Proctor, server: Server) -> None:
    args = ("bench", "model", "--model", "openai:m", "--base-url", server.url, "--prompts", 3)
    ran = proctor(*args, "--concurrency", "1,2", "--json")
    assert ran.status == 0
    found = json.loads(ran.out)
    assert [row["at_once"] for row in found["rows"]] == [1, 2]
    assert found["unanswered"] == 0
    ran = proctor(*args)
    lines = ran.out.splitlines()
    assert lines[0].split()[:2] == ["at", "once"]
    assert [line.split()[0] for line in lines[1:]] == ["1", "4"]


def test_bench_of_a_program_has_one_row(proctor: Proctor, echo: Callable[[str], str]) -> None:
    ran = proctor("bench", "model", "--model", echo("x"), "--prompts", 3, "--json")
    (row,) = json.loads(ran.out)["rows"]
    assert (row["at_once"], row["prompts"]) == (None, 3)
    assert len(proctor("bench", "model", "--model", echo("x")).out.splitlines()) == 2


def test_bench_with_answers_missing_is_degraded(proctor: Proctor, server: Server) -> None:
    from tests.models.conftest import good

    server.plan = [good] * 3 + [status(400)]
    args = ("--model", "openai:m", "--base-url", server.url, "--prompts", 2, "--concurrency", 1)
    ran = proctor("bench", "model", *args)
    assert ran.status == 1
    assert ran.complaint == "1 prompts were not answered"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--model", "wrong"], "--model wrong: is asked nothing"),
        (["--model", "openai:m", "--concurrency", "0"], "--concurrency 0: must be whole numbers"),
        (["--model", "openai:m", "--concurrency", "5000"], "--concurrency 5000: at most 4096"),
        (["--model", "openai:m", "--prompts", "0"], "Invalid value for '--prompts': "),
    ],
)
def test_bench_of_what_is_none(proctor: Proctor, args: list[str], said: str) -> None:
    ran = proctor("bench", "model", *args)
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint.startswith(said)
