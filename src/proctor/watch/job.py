"""The process that works on a job: it asks, then it judges, and it can be killed at any moment.

It gets one line on its standard input, and goes on for as long as that stays open: with its watcher
it ends, too, and with it all that it started.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec

from proctor.benchmarks import TABLE
from proctor.completion import Completion, Request, Sampling
from proctor.errors import InputError, ProctorError
from proctor.evaluation import Plan, evaluate
from proctor.generation import generate
from proctor.grading.prepare import Options
from proctor.journal import read_journal
from proctor.lines import read_whole
from proctor.models import Given, given
from proctor.models.generated import Generated
from proctor.models.providers import Asked, open_provider, provider_of
from proctor.prompt import Shown, Strategy
from proctor.sandbox import Sandbox
from proctor.sandbox.admission import admitted
from proctor.sandbox.choose import open_sandbox
from proctor.settings import Settings, default_workers, load_settings, server_of
from proctor.store import COMPLETIONS, pretty, write_whole
from proctor.task import Benchmark
from proctor.watch.rotation import load_benchmark
from proctor.watch.state import MODEL, RUN

BLOCK = 1 << 16
SHOWN: Shown = "name+tests"


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done."""

    folder: str
    """Of the attempt."""
    model: str
    benchmark: str
    benchmark_sha256: str
    data: str | None
    sampling: Sampling
    prompt_strategy: Strategy
    chat: bool | None
    base_url: str | None
    device: str | None
    sandbox: str | None
    require: str | None
    workers: int | None
    sum_up: bool = False
    """Only write down what there is; what is not judged by now is cancelled."""


class Answers(msgspec.Struct, kw_only=True):
    """A model that has answered already: what it said is read from a file."""

    file: str
    name: str
    chat: bool
    weights_sha256: str | None

    def answer(
        self, requests: Iterator[Request], sampling: Sampling, stop: threading.Event
    ) -> Iterator[Completion]:
        """Yield the answers to requests in the order of the file; whatever was said is kept."""
        del sampling, stop
        wanted = {request.key for request in requests}
        for one in read_journal(Path(self.file), Completion):
            if (one.task_id, one.sample) in wanted:
                yield one

    def close(self) -> None:
        """There is nothing to let go of."""


def main() -> None:
    """Do what standard input says; the exit status is that of a command."""
    line = bytearray()
    while not line.endswith(b"\n") and (more := os.read(0, BLOCK)):
        line += more
    threading.Thread(target=_end_with_watcher, name="watcher", daemon=True).start()
    try:
        carry_out(msgspec.json.decode(bytes(line), type=Work))
    except ProctorError as error:
        print(error, file=sys.stderr)  # noqa: T201  it is our log
        sys.exit(error.exit_status)


def _end_with_watcher() -> None:
    """Wait until there is nobody any more for whom we work.

    By the descriptor: Python's own stream would be locked, which it dies of when it ends.
    """
    while os.read(0, BLOCK):
        pass
    if os.name == "posix" and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def carry_out(work: Work) -> None:
    """Ask for all answers; then judge them."""
    settings = load_settings()
    benchmark = load_benchmark(work.benchmark, work.data, settings)
    if benchmark.sha256 != work.benchmark_sha256:
        raise InputError(f"{benchmark.source} changed since it was loaded")
    there = given(work.model)
    if there is not None:
        _judge(work, benchmark, there, settings)
    elif work.sum_up:
        _judge(work, benchmark, _asked(work), settings)
    else:
        _judge(work, benchmark, _ask(work, benchmark, settings), settings)


def _ask(work: Work, benchmark: Benchmark, settings: Settings) -> Generated:
    """The generation phase: nothing is judged before the model has said all it has to say."""
    kind, _ = provider_of(work.model)
    url, key = server_of(kind, settings)
    asked = Asked(url=work.base_url or url, key=key, chat=work.chat, device=work.device)
    provider = open_provider(work.model, asked)
    folder = Path(work.folder)
    try:
        facts = Answers(
            file=str(folder / COMPLETIONS),
            name=provider.name,
            chat=provider.chat,
            weights_sha256=getattr(provider, "weights_sha256", None),
        )
        write_whole(folder / MODEL, pretty(facts))
        model = Generated(provider, work.prompt_strategy, SHOWN)
        generate(benchmark, model, work.sampling, folder / COMPLETIONS)
    finally:
        provider.close()
    return _asked(work)


def _asked(work: Work) -> Generated:
    """Return the model as far as it has answered."""
    folder = Path(work.folder)
    facts = msgspec.json.decode(read_whole(folder / MODEL), type=Answers)
    here = msgspec.structs.replace(facts, file=str(folder / COMPLETIONS))
    return Generated(here, work.prompt_strategy, SHOWN)


def _judge(work: Work, benchmark: Benchmark, model: Given | Generated, settings: Settings) -> None:
    """The verification phase."""
    fitting = max(1, admitted(max(1, benchmark.memory_bytes)))
    workers = work.workers or settings.workers or min(default_workers(), fitting)
    plan = Plan(
        benchmark=benchmark,
        model=model,
        sampling=work.sampling,
        options=Options(workers=workers, doubt=benchmark.name not in TABLE),
        seconds=0.0 if work.sum_up else float("inf"),
    )
    walls = _walls(work, benchmark, settings)
    try:
        evaluate(plan, walls, Path(work.folder) / RUN)
    finally:
        walls.close()


def _walls(work: Work, benchmark: Benchmark, settings: Settings) -> Sandbox:
    return open_sandbox(
        work.sandbox or settings.sandbox,
        sys.executable,
        work.require,
        settings.candidate_packages,
        benchmark.packages,
    )


if __name__ == "__main__":
    main()
