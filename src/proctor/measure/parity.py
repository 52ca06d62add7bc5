"""Whether two backends say the same: greedy answers to the same prompts, and how likely they were.

Up to where two answers part, both models said the same tokens after the same words, so that the
log-probabilities they gave them can be compared; behind that place nothing can.
"""

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import msgspec

from proctor.errors import InputError, NoAnswer, PassingNoAnswer
from proctor.models.logprobs import TracedTokens, Tracer
from proctor.models.prompting import render_prompt
from proctor.models.providers import Provider
from proctor.records.completion import Completion, Request, Sampling, StopReason, failed_completion
from proctor.records.prompt import Prompt
from proctor.records.task import Benchmark
from proctor.results.stats import wilson
from proctor.storage.jsonl import Line, read_lines

SHOWN = 80
"""Characters of an answer that are shown from where it parts from the other."""

Step = Callable[[], None]


class Row(msgspec.Struct):
    """One line of a file of prompts."""

    prompt: str
    task_id: str | None = None


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """Where two answers to one prompt part."""

    task_id: str
    position: int
    """Characters that are the same."""
    a: str
    """How the first goes on from there."""
    b: str


class LogProbs(msgspec.Struct, frozen=True, kw_only=True):
    """Log-probabilities that the second model gave, less those of the first, in nats."""

    tokens: int
    """Those before answers part."""
    mean_difference: float
    mean_absolute: float
    largest: float


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """What the two may differ by, and whether they keep to it."""

    bound: float | None
    logprob_bound: float | None
    passed: bool
    why: str


class Parity(msgspec.Struct, frozen=True, kw_only=True):
    """What was found."""

    a: str
    b: str
    prompts: int
    """Those that both answered."""
    unanswered: int
    differing: int
    differing_share: float
    low: float
    high: float
    """Of the share, the 95 % interval (Wilson)."""
    logprobs: LogProbs | None
    no_logprobs: str | None
    """Why there are none."""
    divergences: list[Divergence]
    failures: Mapping[str, str]
    """Prompts that a model did not answer, and why."""
    chat: bool
    max_tokens: int
    gate: Gate | None = None
    schema: int = 1

    @property
    def degraded(self) -> bool:
        """Whether prompts are missing."""
        return self.unanswered > 0


def prompts_of(benchmark: Benchmark, *, chat: bool) -> list[Prompt]:
    """Return the prompts of a benchmark."""
    return [render_prompt(task, chat=chat) for task in benchmark.tasks]


def read_prompts(path: Path) -> list[Prompt]:
    """Read prompts of a user's own: JSONL with a field `prompt`, and `task_id` if they have one."""
    found: dict[str, Prompt] = {}
    for line in read_lines(path):
        row = line.decode(Row)
        _check(line, row, found)
        name = row.task_id or str(line.number)
        turns = [("user", row.prompt)]
        found[name] = Prompt(task_id=name, text=row.prompt, turns=turns)
    if not found:
        raise InputError(f"{path}: there is no prompt in it")
    return list(found.values())


def _check(line: Line, row: Row, found: Mapping[str, Prompt]) -> None:
    if not row.prompt:
        raise line.error("field prompt is empty")
    try:
        row.prompt.encode()
    except UnicodeEncodeError:
        raise line.error("field prompt has half a surrogate pair, which is no character") from None
    if (row.task_id or str(line.number)) in found:
        raise line.error(f"field task_id: {row.task_id!r} is there twice")


class Side(NamedTuple):
    """What one of the two said to all prompts, in their order."""

    name: str
    chat: bool
    said: list[TracedTokens]


def ask_model(
    provider: Provider, prompts: Sequence[Prompt], sampling: Sampling, step: Step
) -> Side:
    """Have a model answer all prompts."""
    requests = [
        Request(prompt=prompt, sample=0, id=f"{index}_s0", seed=sampling.seed)
        for index, prompt in enumerate(prompts)
    ]
    said: dict[str, TracedTokens] = {}
    for one in _tracing(provider, requests, sampling):
        said[one.completion.id] = one
        step()
    return Side(provider.name, provider.chat, [said[request.id] for request in requests])


def _tracing(
    provider: Provider, requests: Sequence[Request], sampling: Sampling
) -> Iterator[TracedTokens]:
    if not isinstance(provider, Tracer):
        for completion in provider.answer(iter(requests), sampling, threading.Event()):
            yield TracedTokens(completion, None)
        return
    for request in requests:
        try:
            yield provider.trace(request, sampling)
        except PassingNoAnswer:
            raise
        except NoAnswer as error:
            yield TracedTokens(failed_completion(request, provider.name, str(error)), None)


def compare_models(first: Side, second: Side, sampling: Sampling) -> Parity:
    """Compare the answers of two models to the same prompts."""
    pairs = [
        (a, b)
        for a, b in zip(first.said, second.said, strict=True)
        if StopReason.ERROR not in (a.completion.stop, b.completion.stop)
    ]
    if not pairs:
        raise InputError(f"no prompt was answered by both: {_failure([*first.said, *second.said])}")
    parted = [one for a, b in pairs if (one := diverge(a.completion, b.completion)) is not None]
    logprobs, why = _logprobs(pairs)
    interval = wilson(len(parted), len(pairs))
    return Parity(
        a=first.name,
        b=second.name,
        prompts=len(pairs),
        unanswered=len(first.said) - len(pairs),
        differing=len(parted),
        differing_share=len(parted) / len(pairs),
        low=interval.low,
        high=interval.high,
        logprobs=logprobs,
        no_logprobs=why,
        divergences=parted,
        failures=_failures([*first.said, *second.said]),
        chat=first.chat,
        max_tokens=sampling.max_tokens,
    )


def diverge(first: Completion, second: Completion) -> Divergence | None:
    """Return where two answers part, None if they do not."""
    a, b = first.completion, second.completion
    if a == b:
        return None
    place = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
    return Divergence(
        task_id=first.task_id,
        position=place,
        a=a[place : place + SHOWN],
        b=b[place : place + SHOWN],
    )


def _logprobs(
    pairs: Sequence[tuple[TracedTokens, TracedTokens]],
) -> tuple[LogProbs | None, str | None]:
    silent = {side.completion.model for pair in pairs for side in pair if side.tokens is None}
    if silent:
        return None, f"{', '.join(sorted(map(str, silent)))} tells none"
    differences = [
        b.logprob - a.logprob
        for first, second in pairs
        for a, b in takewhile(
            lambda pair: pair[0].text == pair[1].text,
            zip(first.tokens or (), second.tokens or (), strict=False),
        )
    ]
    if not differences or not all(map(math.isfinite, differences)):
        return None, "there is no token that both say" if not differences else "not all are numbers"
    return LogProbs(
        tokens=len(differences),
        mean_difference=math.fsum(differences) / len(differences),
        mean_absolute=math.fsum(map(abs, differences)) / len(differences),
        largest=max(map(abs, differences)),
    ), None


def _failures(traces: Sequence[TracedTokens]) -> dict[str, str]:
    said = [one.completion for one in traces if one.completion.stop is StopReason.ERROR]
    return {one.task_id: str(one.more.get("error")) for one in said}


def _failure(traces: Sequence[TracedTokens]) -> str:
    return next(iter(_failures(traces).values()), "there are no prompts")


def judge_parity(parity: Parity, bound: float | None, logprob_bound: float | None) -> Parity:
    """Say whether two models keep to what they may differ by."""
    reasons = []
    if parity.unanswered:
        reasons.append(f"{parity.unanswered} prompts have no two answers")
    if bound is not None and parity.differing_share > bound:
        reasons.append(
            f"{parity.differing_share:.3g} of the texts differ, which is above {bound:g}"
        )
    if logprob_bound is not None and parity.logprobs is None:
        reasons.append(f"there are no log-probabilities to compare: {parity.no_logprobs}")
    if logprob_bound is not None and parity.logprobs is not None:
        found = parity.logprobs.mean_absolute
        if found > logprob_bound:
            reasons.append(
                f"log-probabilities differ by {found:.3g} on the average, "
                f"which is above {logprob_bound:g}"
            )
    gate = Gate(
        bound=bound, logprob_bound=logprob_bound, passed=not reasons, why="; ".join(reasons)
    )
    return msgspec.structs.replace(parity, gate=gate)
