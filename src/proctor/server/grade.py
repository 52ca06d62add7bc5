"""Handle requests to grade completions."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from proctor.client.schema import Grade, GradeOptions
from proctor.errors import InputError
from proctor.grading.grade import Grader
from proctor.grading.prepare import Options
from proctor.judge.comparators import parse_profile
from proctor.judge.judgement import Rules
from proctor.records.completion import Completion
from proctor.records.limits import Limits
from proctor.records.receipt import Receipt
from proctor.records.task import Task
from proctor.records.verdict import Bucket
from proctor.server.keys import Caller
from proctor.server.queue import QueueTimeout
from proctor.server.service import Service

LANES_PER_WORKER = 2
"""Maximum number of completions of one request in the queue, per worker."""


class Plan(NamedTuple):
    """A task, its completions and how to judge them."""

    task: Task
    grader: Grader
    options: Options
    texts: Sequence[str]
    deadline_seconds: float


async def grading_plan(service: Service, ask: Grade, *, max_completions: int) -> Plan:
    """Read a request with at most `max_completions` completions."""
    texts = _texts(ask, max_completions)
    task = await _task(service, ask)
    options = _options(ask.options, confirm_failures=ask.benchmark is None, workers=service.workers)
    longest = service.bounds.deadline_seconds
    return Plan(
        task=_limited(service, task, ask.options),
        grader=service.grader(options),
        options=options,
        texts=texts,
        deadline_seconds=min(ask.deadline_seconds or longest, longest),
    )


async def graded_body(service: Service, caller: Caller, plan: Plan) -> list[Receipt]:
    """Judge all completions of a plan within its deadline."""
    try:
        async with asyncio.timeout(plan.deadline_seconds):
            if len(plan.texts) == 1:
                return [await grade_one(service, caller, plan, 0)]
            return await _grade_each(service, caller, plan)
    except TimeoutError:
        raise QueueTimeout from None


async def grade_one(
    service: Service, caller: Caller, plan: Plan, place: int, *, wait_seconds: float | None = None
) -> Receipt:
    """Judge one completion of a plan."""
    task, text = plan.task, plan.texts[place]
    completion = Completion(task_id=task.task_id, sample=0, id="0_s0", completion=text)
    receipt = await service.gate.run(
        lambda: plan.grader.grade(task, completion),
        key=caller.name,
        wait_seconds=wait_seconds,
        same=("grade", task.sha256, completion.sha256, plan.options),
    )
    service.metrics.graded(receipt)
    service.note(failed=receipt.bucket is Bucket.HARNESS)
    return receipt if place == 0 else msgspec.structs.replace(receipt, sample=place)


async def _grade_each(service: Service, caller: Caller, plan: Plan) -> list[Receipt]:
    """Judge completions, a few at once; only the first one raises QueueFull."""
    receipts: dict[int, Receipt] = {}
    places = iter(range(1, len(plan.texts)))

    async def lane() -> None:
        for place in places:
            receipts[place] = await grade_one(
                service, caller, plan, place, wait_seconds=plan.deadline_seconds
            )

    async def first() -> None:
        receipts[0] = await grade_one(service, caller, plan, 0)
        await lane()

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(first())
            await asyncio.sleep(0)  # so that it is the first to enter the queue
            for _ in range(min(LANES_PER_WORKER * service.workers, len(plan.texts)) - 1):
                group.create_task(lane())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [receipts[place] for place in range(len(plan.texts))]


def _texts(ask: Grade, max_completions: int) -> Sequence[str]:
    if (ask.completion is None) == (ask.completions is None):
        raise InputError("give completion, or completions, which is a list")
    texts = [ask.completion] if ask.completion is not None else ask.completions or []
    if not 1 <= len(texts) <= max_completions:
        raise InputError(
            f"completions has {len(texts)} items; "
            f"there may be {max_completions} at most, and 1 at least"
        )
    return texts


async def _task(service: Service, ask: Grade) -> Task:
    if isinstance(ask.task, msgspec.Raw):
        if ask.benchmark is not None or ask.task_id is not None:
            raise InputError("give task, or benchmark and task_id, not both")
        text = bytes(ask.task)
        known = service.known_task(text)
        return known if known is not None else await asyncio.to_thread(service.inline_task, text)
    if ask.benchmark is None or ask.task_id is None:
        raise InputError("give task, or benchmark and task_id")
    return await asyncio.to_thread(service.task, ask.benchmark, ask.task_id)


def _options(asked: GradeOptions, *, confirm_failures: bool, workers: int) -> Options:
    if asked.compare is not None:
        try:
            parse_profile(asked.compare, default="exact")
        except InputError as error:
            raise InputError(f"options.{error}") from None
    rules = Rules(early_stop=asked.early_stop, compare=asked.compare, max_tests=asked.max_tests)
    return Options(
        extract=asked.extract,
        preamble=asked.preamble,
        reuse=False,
        workers=workers,
        rules=rules,
        confirm_failures=confirm_failures,
    )


def _limited(service: Service, task: Task, asked: GradeOptions) -> Task:
    """Replace the task's limits by those of the request."""
    limits = task.limits
    if asked.timeout_s is not None:
        limits = limits.with_seconds(asked.timeout_s)
    if asked.memory_bytes is not None:
        limits = msgspec.structs.replace(limits, memory_bytes=asked.memory_bytes)
    check_limits(service, limits, "options.timeout_s", "options.memory_bytes")
    final = asked.timeout_s is not None
    return task if limits == task.limits else task.limited(limits, final=final)


def check_limits(service: Service, limits: Limits, seconds: str, memory: str) -> None:
    """Reject limits above those of this service."""
    if max(limits.cpu_seconds, limits.wall_seconds) > service.max_seconds:
        raise InputError(f"{seconds}: must be at most {service.max_seconds:g}")
    if limits.memory_bytes > service.max_memory_bytes:
        raise InputError(f"{memory}: must be at most {service.max_memory_bytes}")
