"""How fast a model answers: prompts and tokens a second, by how many it answers at once.

The time to the first token is that from asking to an answer of one token, with as many requests
under way as in the rest of the row. A model in this process is loaded anew for every row, so that
each has its own time to load and its own memory.
"""

import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from proctor.errors import ModelError
from proctor.models.command import Command
from proctor.models.providers import Provider
from proctor.records.completion import Completion, Request, Sampling, StopReason
from proctor.records.prompt import Prompt
from proctor.results.stats import quantile

MIB = 1 << 20
Open = Callable[[int | None], AbstractContextManager[Provider]]


class Throughput(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured with so many requests at once."""

    at_once: int | None
    """Requests under way, or the size of a batch; None if that is the business of a program."""
    prompts: int
    unanswered: int
    seconds: float
    prompts_per_second: float
    tokens_per_second: float | None
    """Those of answers; None if the model does not count them."""
    completion_tokens: int | None
    prompt_tokens: int | None
    first_token_p50_seconds: float | None
    first_token_p95_seconds: float | None
    """None for a program, which is given prompts ahead of time."""
    answer_p50_seconds: float
    answer_p95_seconds: float
    load_seconds: float | None
    """To load weights into this process; None if they are elsewhere."""
    memory_mib: float | None
    """The most that this process, or a program it asks, had in memory; None for a server."""
    gpu_memory_mib: float | None


class Timed(NamedTuple):
    """An answer, and how long it took from being asked for."""

    completion: Completion
    seconds: float


def measure_throughput(
    open_with: Open,
    prompts: Callable[[bool], Sequence[Prompt]],
    sizes: Sequence[int | None],
    count: int,
    max_tokens: int,
) -> Iterator[Throughput]:
    """Measure with so many requests at once each, and yield each row as soon as it is done."""
    for size in sizes:
        _forget_peaks()
        with open_with(size) as provider:
            yield _measure(provider, prompts(provider.chat), size, count, max_tokens)


def _measure(
    provider: Provider, prompts: Sequence[Prompt], size: int | None, count: int, max_tokens: int
) -> Throughput:
    _ask(provider, prompts, size or 1, 1)  # whatever is done once only is done now
    early = _spans(_ask(provider, prompts, count, 1)) if size else []
    begin = time.monotonic()
    said = _ask(provider, prompts, count, max_tokens)
    seconds = time.monotonic() - begin
    spans = _spans(said)
    if not spans:
        raise ModelError(f"{provider.name} answers nothing: {said[0].completion.more['error']}")
    answers = [one.completion for one in said if one.completion.stop is not StopReason.ERROR]
    tokens = _sum(one.completion_tokens for one in answers)
    return Throughput(
        at_once=size,
        prompts=count,
        unanswered=count - len(answers),
        seconds=round(seconds, 4),
        prompts_per_second=round(len(answers) / seconds, 4),
        tokens_per_second=None if tokens is None else round(tokens / seconds, 3),
        completion_tokens=tokens,
        prompt_tokens=_sum(one.prompt_tokens for one in answers),
        first_token_p50_seconds=round(quantile(early, 0.5), 4) if early else None,
        first_token_p95_seconds=round(quantile(early, 0.95), 4) if early else None,
        answer_p50_seconds=round(quantile(spans, 0.5), 4),
        answer_p95_seconds=round(quantile(spans, 0.95), 4),
        load_seconds=getattr(provider, "load_seconds", None),
        memory_mib=_memory_mib(provider),
        gpu_memory_mib=_gpu_memory_mib(provider),
    )


def _ask(provider: Provider, prompts: Sequence[Prompt], count: int, max_tokens: int) -> list[Timed]:
    """Ask so many prompts, from the first again after the last."""
    begun: dict[str, float] = {}

    def requests() -> Iterator[Request]:
        for number, prompt in enumerate(islice(cycle(prompts), count)):
            begun[f"{number}_s0"] = time.monotonic()
            yield Request(prompt=prompt, sample=0, id=f"{number}_s0", seed=0)

    said = provider.answer(requests(), Sampling(max_tokens=max_tokens), threading.Event())
    return [Timed(one, time.monotonic() - begun[one.id]) for one in said]


def _spans(said: Sequence[Timed]) -> list[float]:
    return sorted(one.seconds for one in said if one.completion.stop is not StopReason.ERROR)


def _sum(counts: Iterable[int | None]) -> int | None:
    """Add up counts; None if one is not known."""
    known = list(counts)
    return None if None in known else sum(filter(None, known))


def _forget_peaks() -> None:
    """Have the largest use of memory count from now on, where the system does that."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()


def _memory_mib(provider: Provider) -> float | None:
    if isinstance(provider, Command):
        return _programs_mib()
    if getattr(provider, "load_seconds", None) is None:
        return None  # it is on another machine, for all we know
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return None if found is None else round(int(found[1]) / 1024, 1)


def _programs_mib() -> float | None:
    """Return the most that one of the programs had in memory that have ended."""
    try:
        import resource  # noqa: PLC0415  not everywhere
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return round(peak / (MIB if sys.platform == "darwin" else 1024), 1)


def _gpu_memory_mib(provider: Provider) -> float | None:
    if not str(getattr(provider, "device", "")).startswith("cuda"):
        return None
    return round(float(sys.modules["torch"].cuda.max_memory_allocated()) / MIB, 1)
