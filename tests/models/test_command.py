"""A program as a model."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.errors import InputError, ModelError
from proctor.models.command import Command
from proctor.records.completion import Completion, Request, Sampling, StopReason
from proctor.records.prompt import Prompt

READ = "import json, sys\nasked = (json.loads(line) for line in sys.stdin)\n"
SAY = "def say(**answer): print(json.dumps(answer), flush=True)\n"


def requests(count: int, samples: int = 1) -> Iterator[Request]:
    for index in range(count):
        prompt = Prompt(task_id=f"t/{index}", text=f"prompt {index}", stop=["\ndef"])
        for sample in range(samples):
            yield Request(prompt=prompt, sample=sample, id=f"{index}_s{sample}", seed=sample)


def ask(
    folder: Path, program: str, count: int = 3, samples: int = 1, *, batch: bool = True
) -> list[Completion]:
    file = folder / "model.py"
    file.write_text(READ + SAY + program)
    command = Command(f"{sys.executable} {file}", chat=None, batch=batch)
    return list(command.answer(requests(count, samples), Sampling(), threading.Event()))


@pytest.mark.parametrize("batch", [True, False])
def test_answers_in_any_order(tmp_path: Path, batch: bool) -> None:
    program = "for one in reversed(list(asked)): say(task_id=one['task_id'], text=one['prompt'])"
    said = ask(tmp_path, program, batch=batch)
    assert {one.task_id: one.completion for one in said} == {
        f"t/{n}": f"prompt {n}" for n in range(3)
    }
    assert [one.task_id for one in said] == (
        ["t/2", "t/1", "t/0"] if batch else ["t/0", "t/1", "t/2"]
    )


def test_a_program_may_read_all_prompts_first(tmp_path: Path) -> None:
    program = "for one in list(asked): say(task_id=one['task_id'], text='x' * 5000)"
    assert len(ask(tmp_path, program, 3000)) == 3000


def test_prompts_that_a_program_never_took_are_unscored_too(tmp_path: Path) -> None:
    said = ask(tmp_path, "next(asked); sys.exit(1)", 5000)
    assert [one.stop for one in said] == [StopReason.ERROR] * 5000
    assert len({one.task_id for one in said}) == 5000


def test_is_told_all_it_needs(tmp_path: Path) -> None:
    (said,) = ask(tmp_path, "for one in asked: say(task_id=one['task_id'], text=repr(one))", 1)
    assert eval(said.completion) == {
        "task_id": "t/0",
        "prompt": "prompt 0",
        "max_tokens": 1024,
        "temperature": 0.0,
        "top_k": 1,
        "seed": 0,
        "stop": ["\ndef"],
    }


def test_what_it_knows_of_its_answers_is_kept(tmp_path: Path) -> None:
    facts = "tokens_generated=7, tok_per_sec=9.5, inference_ms=250, used_gpu=True"
    (said,) = ask(tmp_path, f"for one in asked: say(task_id=one['task_id'], text='x', {facts})", 1)
    assert (said.completion_tokens, said.seconds, said.used_gpu) == (7, 0.25, True)
    assert said.more == {"tok_per_sec": 9.5}


def test_several_samples_of_one_task(tmp_path: Path) -> None:
    program = "for one in asked: say(task_id=one['task_id'], text=str(one['seed']))"
    said = ask(tmp_path, program, 2, 3)
    assert sorted((one.task_id, one.sample, one.completion) for one in said) == [
        (f"t/{task}", sample, str(sample)) for task in range(2) for sample in range(3)
    ]


def test_what_is_unanswered_when_it_ends_is_unscored(tmp_path: Path) -> None:
    program = "one = next(asked); say(task_id=one['task_id'], text='x'); sys.exit(3)"
    said = ask(tmp_path, program, 20)
    assert said[0].stop is StopReason.STOP
    rest = said[1:]
    assert rest
    assert all(one.stop is StopReason.ERROR for one in rest)
    assert "ended with status 3" in rest[0].more["error"]


def test_a_thousand_prompts_do_not_block_a_program_that_answers_late(tmp_path: Path) -> None:
    program = (
        "import itertools\n"
        "while batch := list(itertools.islice(asked, 16)):\n"
        "    for one in batch: say(task_id=one['task_id'], text='x' * 10000)\n"
    )
    assert len(ask(tmp_path, program, 1000)) == 1000


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("print('Loading model...', flush=True)", "no answer"),
        ("say(task_id=1, text='x')", "Expected `str`"),
        ("say(text='x')", "missing required field `task_id`"),
        ("say(task_id='else', text='x')", "was not asked"),
        ("for one in asked:\n  for _ in 'ab': say(task_id=one['task_id'], text='x')", "answered"),
        ("sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()", "no answer"),
    ],
)
def test_an_answer_that_is_none(tmp_path: Path, program: str, why: str) -> None:
    with pytest.raises(ModelError, match=why):
        ask(tmp_path, program)


@pytest.mark.parametrize("line", ["", "  ", "/nowhere/at/all", "."])
def test_a_program_that_is_none(line: str) -> None:
    with pytest.raises(InputError, match="--model command"):
        list(
            Command(line, chat=None, batch=True).answer(requests(1), Sampling(), threading.Event())
        )


def test_the_program_is_gone_when_nobody_listens_any_more(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(
        READ + SAY + "import os\n"
        "for one in asked: say(task_id=one['task_id'], text=str(os.getpid()))\n"
        "import time; time.sleep(60)"
    )
    answers = Command(f"{sys.executable} {file}", chat=None, batch=True).answer(
        requests(500), Sampling(), threading.Event()
    )
    pid = int(next(answers).completion)
    answers.close()  # type: ignore[attr-defined]
    assert not Path(f"/proc/{pid}").exists()
