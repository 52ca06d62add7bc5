"""A file of completions: nothing asked twice, nothing mixed up, whatever happens to it."""

import json
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.grading.generate import generate
from proctor.models.generated import GenerativeModel
from proctor.models.reference import Reference
from proctor.records.completion import (
    Completion,
    Request,
    Sampling,
    StopReason,
    completion_for,
    failed_completion,
)
from proctor.records.task import Assertions, Benchmark, Task

Proctor = Callable[..., Any]


class Parrot:
    """Says the same to everything, and remembers what it was asked."""

    chat = False

    def __init__(self, words: str = "    pass", name: str = "parrot") -> None:
        self.name = name
        self.words = words
        self.asked: list[tuple[str, int]] = []

    def answer(
        self, requests: Iterator[Request], sampling: Sampling, stop: threading.Event
    ) -> Iterator[Completion]:
        for one in requests:
            if stop.is_set():
                return
            self.asked.append(one.key)
            if "mute" in one.prompt.text:
                yield failed_completion(one, self.name, "it does not speak")
            else:
                cut = StopReason.LENGTH if one.sample else StopReason.STOP
                yield completion_for(
                    one, self.words, model=self.name, stop=cut, completion_tokens=3
                )

    def close(self) -> None:
        pass


def benchmark(count: int = 5, prompt: str = "def f(x):") -> Benchmark:
    tests = Assertions(targets=["f(1) == 1"])
    solution = "def f(x): return x"
    return Benchmark(
        name="b",
        tasks=[
            Task(task_id=f"t/{n}", prompt=prompt, tests=tests, canonical_solution=solution)
            for n in range(count)
        ],
    )


def model(parrot: Parrot) -> GenerativeModel:
    return GenerativeModel(parrot, "standard", "plain")


def test_writes_down_all_answers(tmp_path: Path) -> None:
    file = tmp_path / "new" / "s.jsonl"
    found = generate(benchmark(), model(Parrot()), Sampling(n_samples=2), file)
    assert (found.samples, found.unanswered, found.cut_off, found.complete) == (10, 0, 5, True)
    assert found.completion_tokens == 30
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["id"] for row in rows] == [f"{n}_s{s}" for s in range(2) for n in range(5)]
    about = json.loads((tmp_path / "new" / "s.jsonl.about.json").read_text())
    assert (about["model"], about["samples"], about["sampling"]["n_samples"]) == ("parrot", 10, 2)


@pytest.mark.parametrize("cut", [0, 1, 57, 400, 401, 10_000])
def test_goes_on_wherever_it_was_torn(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "s.jsonl"
    sampling = Sampling(n_samples=2)
    generate(benchmark(), model(Parrot()), sampling, file)
    whole = file.read_bytes()
    kept = whole[:cut]
    file.write_bytes(kept)
    parrot = Parrot()
    found = generate(benchmark(), model(parrot), sampling, file)
    assert found.complete
    assert file.read_bytes() == whole
    assert len(parrot.asked) == 10 - kept.count(b"\n")


def test_a_stop_saves_and_raises(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    stop = threading.Event()
    seen: list[Completion] = []

    def watch(one: Completion) -> None:
        seen.append(one)
        stop.set()

    with pytest.raises(KeyboardInterrupt):
        generate(benchmark(500), model(Parrot()), Sampling(), file, stop=stop, watch=watch)
    assert 1 <= len(seen) < 500
    assert file.read_bytes().count(b"\n") == len(seen)
    parrot = Parrot()
    assert generate(benchmark(500), model(parrot), Sampling(), file).complete
    assert len(parrot.asked) == 500 - len(seen)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"sampling": Sampling(temperature=0.5)}, "sampling.temperature is 0.0, not 0.5"),
        ({"benchmark": benchmark(prompt="def g(x):")}, "benchmark_sha256 is "),
        ({"model": model(Parrot(name="cockatoo"))}, "model is 'parrot', not 'cockatoo'"),
        (
            {"model": GenerativeModel(Parrot(), "few-shot", "plain")},
            "strategy is 'standard', not 'few-",
        ),
        ({"model": Reference()}, "model is 'parrot', not 'reference'"),
    ],
)
def test_does_not_mix_what_is_asked_differently(
    tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    file = tmp_path / "s.jsonl"
    usual: dict[str, Any] = {
        "benchmark": benchmark(),
        "model": model(Parrot()),
        "sampling": Sampling(),
    }
    generate(**usual, file=file)
    before = file.read_bytes()
    with pytest.raises(InputError) as caught:
        generate(**{**usual, **change}, file=file)
    assert str(caught.value).startswith(f"{file} belongs to others: its {field}")
    assert file.read_bytes() == before
    assert generate(**{**usual, **change}, file=file, fresh=True).complete


@pytest.mark.parametrize("fresh", [True, False])
def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path, fresh: bool) -> None:
    file = tmp_path / "thesis.txt"
    file.write_text("years of work\n")
    with pytest.raises(InputError, match="holds something that we did not write"):
        generate(benchmark(), model(Parrot()), Sampling(), file, fresh=fresh)
    assert file.read_text() == "years of work\n"


def test_two_at_once(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"

    def again(_: Completion) -> None:
        with pytest.raises(InputError, match="is in use by another process"):
            generate(benchmark(), model(Parrot()), Sampling(), file)

    assert generate(benchmark(1), model(Parrot()), Sampling(), file, watch=again).complete


@pytest.mark.parametrize("total", [1500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_answers_stay_out_of_memory(tmp_path: Path, total: int) -> None:
    """Answers of 10 KiB each: what is held does not grow with how many there are."""

    def most(count: int) -> int:
        tasks, talker = benchmark(count), model(Parrot("x" * 10_240))
        tracemalloc.start()
        found = generate(tasks, talker, Sampling(), tmp_path / f"{count}.jsonl")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.samples == count
        return peak

    few, many = most(300), most(total)
    assert many - few < (total - 300) * 1024, "a tenth of the texts that came between"


def test_what_is_generated_is_scored_later(proctor: Proctor, jsonl: Callable[..., Path]) -> None:
    tests = {"kind": "assertions", "targets": ["f(1) == 1"]}
    rows = [
        {
            "task_id": f"t/{n}",
            "prompt": "def f(x):\n",
            "tests": tests,
            "canonical_solution": f"def f(x): return {n}",
        }
        for n in range(3)
    ]
    tasks = jsonl("tasks.jsonl", rows)
    args = ("generate", tasks, "--model", "reference", "--n-samples", "2", "--out", "s.jsonl")
    ran = proctor(*args)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "6 answers of reference to 3 tasks, 0 tokens",
        f"proctor score {tasks} --completions s.jsonl",
    ]
    found = json.loads(proctor(*args, "--json").out)
    assert (found["samples"], found["complete"], found["file"]) == (6, True, "s.jsonl")
    scored = json.loads(proctor("score", tasks, "--completions", "s.jsonl", "--json").out)
    assert (scored["samples"], scored["tasks"]) == (6, 3)


def test_what_was_not_answered_is_unscored_later(
    proctor: Proctor, jsonl: Callable[..., Path], alone: Path
) -> None:
    tests = {"kind": "assertions", "targets": ["f(1) == 1"]}
    names = ("mute", "def f(x):\n    return x\ndef g():")
    tasks = jsonl(
        "tasks.jsonl",
        [{"task_id": f"t/{n}", "prompt": names[n % 2], "tests": tests} for n in range(2)],
    )
    loaded = Benchmark(
        name="tasks",
        tasks=[
            Task(task_id=f"t/{n}", prompt=names[n % 2], tests=Assertions(targets=["f(1) == 1"]))
            for n in range(2)
        ],
    )
    found = generate(loaded, model(Parrot()), Sampling(), Path("s.jsonl"))
    assert (found.unanswered, found.complete) == (1, True)
    ran = proctor("score", tasks, "--completions", "s.jsonl", "--out", "run", "--json")
    scored = json.loads(ran.out)
    assert (ran.status, scored["unscored"], scored["samples"]) == (1, 1, 2)
    assert "it does not speak" in Path("run/receipts.jsonl").read_text()


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("s.jsonl.gz", "--out s.jsonl.gz: it is written as it comes, so it cannot be compressed"),
        (".", "cannot write .: Is a directory; name another --out"),
    ],
)
def test_bad_input(proctor: Proctor, out: str, said: str) -> None:
    ran = proctor("generate", "basics", "--model", "reference", "--out", out)
    assert (ran.status, ran.complaint) == (2, said)
