"""The queue: bounded, fair, nothing twice, nothing for nobody."""

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox import Sandbox
from proctor.server.queue import QueueFull, QueueTimeout, RequestQueue

ENDLESS = Program(source="while True: pass")


@pytest.fixture
def gate() -> Iterator[RequestQueue]:
    made = RequestQueue(1, 4)
    yield made
    made.close()


async def hold(gate: RequestQueue) -> tuple[asyncio.Task[None], threading.Event]:
    """Keep the gate's worker busy until the event is set."""
    free = threading.Event()
    task = asyncio.ensure_future(gate.run(lambda: free.wait(30) and None))
    while not gate.running:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    return task, free


def test_results_and_errors_come_back(gate: RequestQueue) -> None:
    async def check() -> None:
        assert await gate.run(lambda: 42) == 42
        with pytest.raises(ZeroDivisionError):
            await gate.run(lambda: 1 // 0)
        assert await gate.run(lambda: "still there") == "still there"

    asyncio.run(check())


def test_who_finds_the_queue_full_is_told_when_to_come_again(gate: RequestQueue) -> None:
    async def check() -> None:
        task, free = await hold(gate)
        waiting = [asyncio.ensure_future(gate.run(lambda: 1)) for _ in range(4)]
        await asyncio.sleep(0)
        with pytest.raises(QueueFull) as busy:
            await gate.run(lambda: 1)
        assert busy.value.retry_after >= 1
        assert gate.waiting == 4
        free.set()
        assert await asyncio.gather(*waiting) == [1, 1, 1, 1]
        await task
        assert gate.waiting == gate.running == 0

    asyncio.run(check())


def test_who_is_ready_to_wait_is_let_in_and_told_when_it_was_in_vain(gate: RequestQueue) -> None:
    async def check() -> None:
        task, free = await hold(gate)
        patient = [asyncio.ensure_future(gate.run(lambda: 1, wait_seconds=30)) for _ in range(6)]
        await asyncio.sleep(0)
        with pytest.raises(QueueTimeout):
            await gate.run(lambda: 1, wait_seconds=0.05)
        assert gate.waiting == 6
        free.set()
        assert sum(await asyncio.gather(*patient)) == 6
        await task

    asyncio.run(check())


def test_work_that_has_begun_is_not_late(gate: RequestQueue) -> None:
    async def check() -> None:
        assert await gate.run(lambda: time.sleep(0.2) or "done", wait_seconds=0.05) == "done"

    asyncio.run(check())


def test_keys_take_turns(gate: RequestQueue) -> None:
    async def check() -> list[str]:
        task, free = await hold(gate)
        order: list[str] = []
        keys = ["a"] * 4 + ["b"] * 2 + ["c"]
        waiting = [
            asyncio.ensure_future(
                gate.run(lambda key=key: order.append(key), key=key, wait_seconds=30)
            )
            for key in keys
        ]
        await asyncio.sleep(0)
        free.set()
        await asyncio.gather(task, *waiting)
        return order

    assert asyncio.run(check()) == ["a", "b", "c", "a", "b", "a", "a"]


def test_a_key_that_fills_the_queue_does_not_lock_out_others(gate: RequestQueue) -> None:
    async def check() -> None:
        task, free = await hold(gate)
        greedy = [asyncio.ensure_future(gate.run(lambda: 1, key="greedy")) for _ in range(4)]
        await asyncio.sleep(0)
        with pytest.raises(QueueFull):
            await gate.run(lambda: 1, key="greedy")
        modest = [asyncio.ensure_future(gate.run(lambda: 2, key="modest")) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(QueueFull):
            await gate.run(lambda: 2, key="modest")
        free.set()
        assert sum(await asyncio.gather(*greedy, *modest)) == 8
        await task

    asyncio.run(check())


def test_the_same_work_is_done_once(gate: RequestQueue) -> None:
    calls = []

    async def check() -> None:
        task, free = await hold(gate)
        both = [
            asyncio.ensure_future(gate.run(lambda: calls.append(1) or "one", same="x", key=key))
            for key in ("a", "b")
        ]
        await asyncio.sleep(0)
        assert gate.waiting == 1
        both.append(asyncio.ensure_future(gate.run(lambda: "other", same="y")))
        free.set()
        assert await asyncio.gather(*both) == ["one", "one", "other"]
        await task
        assert await gate.run(lambda: calls.append(2) or "again", same="x") == "again"

    asyncio.run(check())
    assert calls == [1, 2]


def test_one_of_two_who_goes_does_not_end_the_work_of_the_other(gate: RequestQueue) -> None:
    async def check() -> None:
        task, free = await hold(gate)
        first, second = (
            asyncio.ensure_future(gate.run(lambda: "result", same="x")) for _ in range(2)
        )
        await asyncio.sleep(0)
        first.cancel()
        free.set()
        assert await second == "result"
        await task

    asyncio.run(check())


def test_work_that_nobody_waits_for_never_begins(gate: RequestQueue) -> None:
    done = []

    async def check() -> None:
        task, free = await hold(gate)
        gone = asyncio.ensure_future(gate.run(lambda: done.append(1)))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        assert gate.waiting == 0
        free.set()
        await task
        assert await gate.run(lambda: "next") == "next"

    asyncio.run(check())
    assert not done


def test_a_guest_that_nobody_waits_for_is_ended(gate: RequestQueue, sandbox: Sandbox) -> None:
    """Its limit is a minute; the worker is free long before, and the next program runs right."""
    limits = Limits().with_seconds(60.0)

    async def check() -> None:
        task = asyncio.ensure_future(gate.run(lambda: sandbox.run(ENDLESS, limits)))
        while not gate.running:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        task.cancel()
        async with asyncio.timeout(20):
            again = await gate.run(lambda: sandbox.run(Program(source="print(7)"), Limits()))
        assert again.stdout == b"7\n"

    asyncio.run(check())


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30))
def test_whoever_waits_gets_a_turn_before_anybody_has_two_more(keys: list[str]) -> None:
    """Between two turns of a key that has work, no other key has more than one."""

    async def check() -> list[str]:
        gate = RequestQueue(1, 100)
        try:
            task, free = await hold(gate)
            order: list[str] = []
            waiting = [
                asyncio.ensure_future(gate.run(lambda key=key: order.append(key), key=key))
                for key in keys
            ]
            await asyncio.sleep(0)
            free.set()
            await asyncio.gather(task, *waiting)
            return order
        finally:
            gate.close()

    order = asyncio.run(check())
    assert sorted(order) == sorted(keys)
    for place, key in enumerate(order):
        left = set(order[place:])
        upcoming = order[place + 1 : place + 1 + len(left)]
        for other in left - {key}:
            assert other in upcoming
