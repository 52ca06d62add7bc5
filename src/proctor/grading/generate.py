"""Completions without verdicts: asked for here, judged later, on another machine if need be.

They are a journal, so a kill at any moment loses nothing but what was under way. Beside it stands a
file that says what was asked: whoever goes on with other prompts, other weights or another
temperature is told so.
"""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError, boundary
from proctor.grading.receipts import software_versions
from proctor.models import RecordedModel
from proctor.models.generated import GenerativeModel
from proctor.records.completion import Completion, Sampling
from proctor.records.encoding import encode
from proctor.records.receipt import SCHEMA, first_difference
from proctor.records.task import Benchmark
from proctor.storage.journal import Journal, Key, Samples, read_journal
from proctor.storage.jsonl import COMPRESSED, explain_error, read_whole, shorten
from proctor.storage.run_directory import lock_folder, pretty, write_whole

ABOUT = ".about.json"


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a file of completions holds."""

    benchmark: str
    benchmark_sha256: str
    tasks: int
    samples: int
    """How many completions it has when it is complete."""
    model: str
    weights_sha256: str | None
    prompts_sha256: str | None
    strategy: str | None
    sampling: Sampling
    versions: dict[str, str]
    created: str
    host: str
    schema: int = SCHEMA

    def identity(self) -> dict[str, Any]:
        """Return everything but when and where."""
        fields: dict[str, Any] = msgspec.json.decode(encode(self))
        return {
            name: value
            for name, value in fields.items()
            if name not in ("versions", "created", "host")
        }


class Generation(msgspec.Struct, frozen=True):
    """What came of it."""

    file: str
    model: str
    tasks: int
    samples: int
    """Completions in the file."""
    unanswered: int
    cut_off: int
    """Answers that reached --max-tokens."""
    completion_tokens: int
    complete: bool


def generate(
    benchmark: Benchmark,
    model: RecordedModel | GenerativeModel,
    sampling: Sampling,
    file: Path,
    *,
    fresh: bool = False,
    stop: threading.Event | None = None,
    begin: Callable[[int, int], None] = lambda _, __: None,
    watch: Callable[[Completion], None] = lambda _: None,
) -> Generation:
    """Ask for every completion that the file does not have yet.

    When `stop` is set, questions under way are finished, and then this raises KeyboardInterrupt.
    """
    stop = stop or threading.Event()
    about = _about(benchmark, model, sampling)
    with _held(file):
        _settle(file, about, fresh=fresh)
        journal = Journal(file)
        try:
            there = Samples(read_journal(file, Key))
            begin(about.samples, len(there))
            for completion in _missing(benchmark, model, sampling, there, stop):
                journal.append(completion)
                watch(completion)
        finally:
            journal.close()
        found = _look(file, about)
    if stop.is_set() and not found.complete:
        raise KeyboardInterrupt
    return found


def _missing(
    benchmark: Benchmark,
    model: RecordedModel | GenerativeModel,
    sampling: Sampling,
    there: Samples,
    stop: threading.Event,
) -> Iterator[Completion]:
    if isinstance(model, GenerativeModel):
        answers = model.complete(benchmark, sampling, lambda key: key not in there, stop)
        yield from (answer for answer in answers if answer is not None)
        return
    for one in model.complete(benchmark, sampling):
        if stop.is_set():
            return
        if (one.task_id, one.sample) not in there:
            yield one


def _about(
    benchmark: Benchmark, model: RecordedModel | GenerativeModel, sampling: Sampling
) -> About:
    if isinstance(model, GenerativeModel):
        asked, samples = model, len(benchmark.tasks) * sampling.n_samples
    else:
        asked, samples = None, sum(1 for _ in model.complete(benchmark, sampling))
    return About(
        benchmark=benchmark.name,
        benchmark_sha256=benchmark.sha256,
        tasks=len(benchmark.tasks),
        samples=samples,
        model=model.name,
        weights_sha256=asked.weights_sha256 if asked else None,
        prompts_sha256=asked.sha256(benchmark) if asked else None,
        strategy=asked.strategy if asked else None,
        sampling=sampling,
        versions=software_versions(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        host=socket.gethostname(),
    )


@contextmanager
def _held(file: Path) -> Iterator[None]:
    """Have a file to ourselves."""
    if file.suffix in COMPRESSED:
        raise InputError(f"--out {file}: it is written as it comes, so it cannot be compressed")
    with boundary(InputError, f"cannot write {file}", "name another --out"):
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        lock_folder(descriptor, file)
        yield
    finally:
        os.close(descriptor)


def _settle(file: Path, about: About, *, fresh: bool) -> None:
    """Begin a file, or check that the one that is there is of the same kind."""
    beside = file.with_name(file.name + ABOUT)
    if not fresh and beside.exists():
        try:
            old = msgspec.json.decode(read_whole(beside), type=About)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{beside} is not what we wrote: {explain_error(error)}") from None
        found = first_difference(about.identity(), old.identity())
        if found is not None:
            raise InputError(
                f"{file} belongs to others: its {found.field} is {shorten(found.theirs)}, "
                f"not {shorten(found.ours)}; name another --out, or start over with --fresh"
            )
        return
    if file.stat().st_size and not (fresh and beside.exists()):
        raise InputError(f"{file} holds something that we did not write; name another --out")
    with boundary(InputError, f"cannot write {file}"):
        os.truncate(file, 0)
    write_whole(beside, pretty(about))


def _look(file: Path, about: About) -> Generation:
    """Count what a file holds."""
    samples = unanswered = cut_off = tokens = 0
    for one in read_journal(file, Completion):
        samples += 1
        unanswered += one.stop == "error"
        cut_off += one.stop == "length"
        tokens += one.completion_tokens or 0
    return Generation(
        file=str(file),
        model=about.model,
        tasks=about.tasks,
        samples=samples,
        unanswered=unanswered,
        cut_off=cut_off,
        completion_tokens=tokens,
        complete=samples == about.samples,
    )
