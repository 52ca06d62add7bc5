"""Rewards for trainers, under the signatures that they call.

| trainer             | function                    | an unscored sample                           |
|---------------------|-----------------------------|----------------------------------------------|
| TRL                 | `trl_reward`                | None: TRL leaves it out of its group         |
| verl                | `verl_score`, `verl_scores` | 0.0: verl makes a tensor of all scores       |
| verifiers, v1       | `verifiers_reward`          | an error: verifiers has rollouts that failed |
| verifiers, `Rubric` | `rubric_reward`             | 0.0: a rubric makes floats of all rewards    |

A sample is unscored if we failed or if its own tests cannot be run: nothing is known about it. A
warning says so, and the choice `unscored` is another reward for it. What a candidate does to the
sandbox is its own failure, so breaking the harness earns nothing.

The other choices are the same for all. `partial_credit`: the share of tests that pass; else 1.0 if
all of them do and 0.0 if not. `options`: how samples are graded. `timeout_s` and `benchmark`: for
rows that have no such column. `dataset_columns.py` tells how a row says what its tests are.
`url`: the address of a service (`proctor serve`) that judges in place of this process.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from proctor.api import submit
from proctor.benchmarks import TABLE
from proctor.errors import InputError, SandboxError
from proctor.grading.prepare import Options
from proctor.integrations.dataset_columns import (
    COLUMNS,
    SOURCES,
    answer_of,
    get_columns,
    list_of,
    parsed,
    task_from_columns,
)
from proctor.integrations.remote import submit_to
from proctor.records.receipt import Receipt
from proctor.records.verdict import Outcome

LOG = logging.getLogger("proctor")
TASK_ID = re.compile(r"[\w./:-]+")
Otherwise = TypeVar("Otherwise", float, float | None)


def trl_reward(
    prompts: Sequence[Any],
    completions: Sequence[Any],
    *,
    partial_credit: bool = True,
    unscored: float | None = None,
    options: Options | None = None,
    url: str | None = None,
    log_metric: Callable[[str, float], None] | None = None,
    **columns: Any,
) -> list[float | None]:
    """Reward a batch, as one of the `reward_funcs` of TRL's trainers.

    Completions are texts or conversations. Choices are made by `functools.partial`.
    """
    rows = _rows(columns, len(completions))
    receipts = _judge(zip(rows, prompts, completions, strict=True), options, url)
    if log_metric is not None and receipts:
        missing = sum(receipt.score is None for receipt in receipts)
        log_metric("proctor/unscored", missing / len(receipts))
    return [_reward(receipt, unscored, partial_credit=partial_credit) for receipt in receipts]


def verl_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    partial_credit: bool = True,
    unscored: float = 0.0,
    options: Options | None = None,
    url: str | None = None,
    **columns: Any,
) -> float:
    """Score one response, as verl's custom reward function.

    If the data source is a benchmark that is known by name, the ground truth may be a task's id.
    Choices are made by `reward_kwargs`.
    """
    del extra_info
    row = _verl_row(data_source, ground_truth, columns)
    receipt = _begin(row, "", solution_str, options, url).result()
    _warn([receipt])
    return _reward(receipt, unscored, partial_credit=partial_credit)


def verl_scores(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any]] | None = None,
    *,
    partial_credit: bool = True,
    unscored: float = 0.0,
    options: Options | None = None,
    url: str | None = None,
    **columns: Any,
) -> list[float]:
    """Score a batch of responses, as verl's batch reward manager asks for it."""
    del extra_infos
    sources = zip(data_sources, ground_truths, strict=True)
    rows = [_verl_row(source, truth, columns) for source, truth in sources]
    receipts = _judge(
        ((row, "", text) for row, text in zip(rows, solution_strs, strict=True)), options, url
    )
    return [_reward(receipt, unscored, partial_credit=partial_credit) for receipt in receipts]


class Data(Protocol):
    """The data of a task of verifiers."""

    prompt: Any

    def model_dump(self) -> dict[str, Any]:
        """Return all fields."""
        ...


class Trace(Protocol):
    """A rollout of verifiers."""

    @property
    def last_reply(self) -> str:
        """What the model said last."""
        ...


async def verifiers_reward(
    task: Data,
    trace: Trace,
    *,
    partial_credit: bool = True,
    unscored: float | None = None,
    options: Options | None = None,
    url: str | None = None,
) -> float:
    """Reward one rollout, as a `@vf.reward` of verifiers or a function plugged into a task.

    The columns are fields of the task's data; if none of them says how to check it, `answer` does,
    as a ground truth.
    """
    fields = task.model_dump()
    row = fields if _tells(fields) else {"ground_truth": fields.get("answer")}
    receipt = await _one(row, task.prompt, trace.last_reply, options, url)
    reward = _reward(receipt, unscored, partial_credit=partial_credit)
    if reward is None:
        raise SandboxError(f"the rollout is unscored: {receipt.detail}")
    return reward


async def rubric_reward(
    completion: Any,
    prompt: Any = "",
    answer: Any = "",
    info: Any = None,
    *,
    partial_credit: bool = True,
    unscored: float = 0.0,
    options: Options | None = None,
    url: str | None = None,
    **columns: Any,
) -> float:
    """Reward one rollout, as a function of a `Rubric` of verifiers before version 0.4.

    The columns are entries of `info`, or columns of the dataset; if none of them says how to check
    it, `answer` does, as a ground truth.
    """
    columns.pop("task", None)  # verifiers' own
    entries = parsed("info", info) or {}
    told = next((row for row in (entries, columns) if _tells(row)), {"ground_truth": answer})
    receipt = await _one({**columns, **told}, prompt, completion, options, url)
    return _reward(receipt, unscored, partial_credit=partial_credit)


def _tells(row: Mapping[str, Any]) -> bool:
    return any(row.get(name) is not None for name in SOURCES)


def _rows(columns: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the rows of a batch; what is no list is the same for all of them."""
    known = {name: list_of(columns[name]) for name in COLUMNS & columns.keys()}
    for name, values in known.items():
        if isinstance(values, list) and len(values) != count:
            raise InputError(f"column {name} has {len(values)} rows, not {count}")
    return [
        {name: value[place] if isinstance(value, list) else value for name, value in known.items()}
        for place in range(count)
    ]


def _verl_row(source: str, truth: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
    # Training sets are called taco or apps, too, but bring their tests along.
    if source in TABLE and isinstance(truth, str) and TASK_ID.fullmatch(truth):
        return {**columns, "benchmark": source, "task_id": truth}
    return {**columns, "ground_truth": truth}


def _judge(
    samples: Iterable[tuple[Mapping[str, Any], Any, Any]], options: Options | None, url: str | None
) -> list[Receipt]:
    """Judge rows with their prompts and completions, all at once."""
    begun: list[Future[Receipt]] = []
    receipts: list[Receipt] = []
    try:
        for place, sample in enumerate(samples):
            with _row(place):
                begun.append(_begin(*sample, options, url))
        for place, future in enumerate(begun):
            with _row(place):
                receipts.append(future.result())
    finally:
        for future in begun:
            future.cancel()  # who is interrupted does not want the rest
    _warn(receipts)
    return receipts


@contextmanager
def _row(place: int) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise InputError(f"row {place} of the batch: {error}") from None


async def _one(
    row: Mapping[str, Any], prompt: Any, completion: Any, options: Options | None, url: str | None
) -> Receipt:
    receipt = await asyncio.wrap_future(_begin(row, prompt, completion, options, url))
    _warn([receipt])
    return receipt


def _begin(
    row: Mapping[str, Any], prompt: Any, completion: Any, options: Options | None, url: str | None
) -> Future[Receipt]:
    text, known = answer_of(completion), None if url is None else get_columns(row)
    if url is not None and known is not None:  # the service has the benchmark, we need not
        return submit_to(url, known, text, options or Options(reuse=False))
    task, preamble = task_from_columns(row, prompt)
    chosen = options or Options(reuse=False, preamble=preamble)
    return submit(task, text, chosen) if url is None else submit_to(url, task, text, chosen)


def _warn(receipts: Sequence[Receipt]) -> None:
    missing = [receipt for receipt in receipts if receipt.score is None]
    if missing:
        many = f"{len(missing)} of {len(receipts)} samples are unscored"
        LOG.warning("%s, the first (%s) because: %s", many, missing[0].task_id, missing[0].detail)


def _reward(receipt: Receipt, unscored: Otherwise, *, partial_credit: bool) -> float | Otherwise:
    if receipt.score is None:
        return unscored
    return receipt.score if partial_credit else float(receipt.outcome is Outcome.PASS)
