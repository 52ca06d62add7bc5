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
from proctor.errors import InputError, ProctorError
from proctor.grading.evaluate import Plan, evaluate
from proctor.grading.generate import generate
from proctor.grading.prepare import Options
from proctor.models import RecordedModel, recorded_model
from proctor.models.generated import GenerativeModel
from proctor.models.prompting import Strategy, TestsShown
from proctor.models.providers import ProviderRequest, open_provider, provider_of
from proctor.records.completion import Completion, Request, Sampling
from proctor.records.task import Benchmark
from proctor.sandbox import Sandbox
from proctor.sandbox.limits.memory_budget import admit_workers
from proctor.sandbox.tiers.select import open_sandbox
from proctor.settings import Settings, default_workers, load_settings, server_of
from proctor.storage.journal import read_journal
from proctor.storage.jsonl import read_whole
from proctor.storage.run_directory import COMPLETIONS, pretty, write_whole
from proctor.watch.job_state import MODEL, RUN
from proctor.watch.rotation import load_benchmark

BLOCK = 1 << 16
SHOWN: TestsShown = "name+tests"


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
    there = recorded_model(work.model)
    if there is not None:
        _judge(work, benchmark, there, settings)
    elif work.sum_up:
        _judge(work, benchmark, _asked(work), settings)
    else:
        _judge(work, benchmark, _ask(work, benchmark, settings), settings)


def _ask(work: Work, benchmark: Benchmark, settings: Settings) -> GenerativeModel:
    """The generation phase: nothing is judged before the model has said all it has to say."""
    kind, _ = provider_of(work.model)
    url, key = server_of(kind, settings)
    asked = ProviderRequest(url=work.base_url or url, key=key, chat=work.chat, device=work.device)
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
        model = GenerativeModel(provider, work.prompt_strategy, SHOWN)
        generate(benchmark, model, work.sampling, folder / COMPLETIONS)
    finally:
        provider.close()
    return _asked(work)


def _asked(work: Work) -> GenerativeModel:
    """Return the model as far as it has answered."""
    folder = Path(work.folder)
    facts = msgspec.json.decode(read_whole(folder / MODEL), type=Answers)
    here = msgspec.structs.replace(facts, file=str(folder / COMPLETIONS))
    return GenerativeModel(here, work.prompt_strategy, SHOWN)


def _judge(
    work: Work, benchmark: Benchmark, model: RecordedModel | GenerativeModel, settings: Settings
) -> None:
    """The verification phase."""
    fitting = max(1, admit_workers(max(1, benchmark.memory_bytes)))
    workers = work.workers or settings.workers or min(default_workers(), fitting)
    plan = Plan(
        benchmark=benchmark,
        model=model,
        sampling=work.sampling,
        options=Options(workers=workers, confirm_failures=benchmark.name not in TABLE),
        seconds=0.0 if work.sum_up else float("inf"),
    )
    sandbox = _sandbox_for(work, benchmark, settings)
    try:
        evaluate(plan, sandbox, Path(work.folder) / RUN)
    finally:
        sandbox.close()


def _sandbox_for(work: Work, benchmark: Benchmark, settings: Settings) -> Sandbox:
    return open_sandbox(
        work.sandbox or settings.sandbox,
        sys.executable,
        work.require,
        settings.candidate_packages,
        benchmark.packages,
    )


if __name__ == "__main__":
    main()
