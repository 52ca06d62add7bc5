"""Receipts of a stream: in order, as they come, in either colour, and never far ahead."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.grading import stream
from proctor.grading.stream import GradingStream

# What is a receipt to whoever makes them is all the same to a stream: here they are numbers.


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as threads:
        yield threads


def double(sample: float) -> float:
    time.sleep(sample if 0 < sample < 1 else 0)
    if sample < 0:
        raise InputError(f"{sample} is no sample")
    return sample * 2


def receipts(pool: ThreadPoolExecutor, samples: Any) -> Any:
    return GradingStream(samples, lambda _, sample: pool.submit(double, sample), workers=2)  # type: ignore[arg-type]


async def taken(results: Any) -> list[Any]:
    return [one async for one in results]


@given(st.lists(st.floats(0, 0.003) | st.integers(1, 9), max_size=30))
def test_both_colours_give_all_in_order(samples: list[float]) -> None:
    with ThreadPoolExecutor(3) as pool:
        wanted = [sample * 2 for sample in samples]
        assert list(receipts(pool, samples)) == wanted
        assert asyncio.run(taken(receipts(pool, samples))) == wanted


@pytest.mark.parametrize("numbered", [0, 1, 5])
def test_samples_are_numbered(pool: ThreadPoolExecutor, numbered: int) -> None:
    results: Any = GradingStream(["x"] * numbered, lambda n, _: pool.submit(lambda: n), workers=1)  # type: ignore[arg-type,return-value]
    assert list(results) == list(range(numbered))


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_what_ends_the_stream_comes_in_its_turn(pool: ThreadPoolExecutor, colour: str) -> None:
    def source() -> Iterator[float]:
        yield from (0.01, 2, 3)
        raise OSError("the disk is gone")

    async def collect(results: Any, got: list[float]) -> None:
        async for one in results:
            got.append(one)  # noqa: PERF401  what came before the error is kept

    for samples, error, before in ((source(), OSError, 3), ([0.01, 2, -1, 3], InputError, 2)):
        got: list[float] = []
        with pytest.raises(error):
            if colour == "sync":
                got.extend(receipts(pool, samples))
            else:
                asyncio.run(collect(receipts(pool, samples), got))
        assert len(got) == before


class Source:
    """An endless stream that knows how much of it was taken."""

    def __init__(self, first: float = 1) -> None:
        self.taken = 0
        self._first = first

    def __iter__(self) -> Iterator[float]:
        for number in count():
            self.taken += 1
            yield self._first if number == 0 else 1


def test_an_endless_stream_is_taken_as_it_is_graded(pool: ThreadPoolExecutor) -> None:
    source = Source()
    results = receipts(pool, source)
    for number in range(1, 200):
        next(results)
        # one that is held up by the system lets some behind it go first
        assert source.taken <= number + 2 * stream.AT_HAND + 50, "taken far ahead"
        time.sleep(0.0005)
    results.close()


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_what_waits_behind_a_slow_sample_is_bounded(
    pool: ThreadPoolExecutor, colour: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "WAITING", 16)
    source = Source(first=0.5)

    async def first() -> Any:
        async for one in receipts(pool, source):
            return one, source.taken
        return None

    def first_blocking() -> Any:
        return next(receipts(pool, source)), source.taken

    value, taken_by_then = asyncio.run(first()) if colour == "async" else first_blocking()
    assert value == 1.0
    # the other worker went on meanwhile, but not for ever
    assert 16 < taken_by_then <= 2 * 16 + 2 * stream.AT_HAND + 1


def test_a_slow_source_does_not_hold_back_what_is_done(pool: ThreadPoolExecutor) -> None:
    """Asynchronously a receipt comes when it is there, not when the next sample is."""

    async def main() -> None:
        asked = asyncio.Event()

        async def slow() -> AsyncIterator[float]:
            yield 1
            await asyncio.wait_for(asked.wait(), 30)
            yield 2

        got = []
        async for one in receipts(pool, slow()):
            got.append(one)
            asked.set()
        assert got == [2, 4]

    asyncio.run(main())


def test_the_loop_goes_on_meanwhile(pool: ThreadPoolExecutor) -> None:
    async def main() -> int:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                await asyncio.sleep(0.005)
                beats += 1

        heart = asyncio.ensure_future(beat())
        await taken(receipts(pool, [0.3, 0.3]))
        heart.cancel()
        return beats

    assert asyncio.run(main()) >= 5


def test_who_leaves_waits_for_nothing_and_drops_what_has_not_begun() -> None:
    go, begun = threading.Event(), []

    def wait(sample: int) -> int:
        begun.append(sample)
        go.wait(30)
        return sample

    submitted: list[Future[int]] = []

    def submit(_: int, sample: int) -> Any:
        submitted.append(pool.submit(wait, sample))
        return submitted[-1]

    async def leave() -> None:
        results = aiter(GradingStream(range(100), submit, workers=1))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(results), 0.2)
        await results.aclose()  # type: ignore[attr-defined]

    with ThreadPoolExecutor(1) as pool:
        asyncio.run(leave())
        assert begun == [0]
        go.set()
    assert len(submitted) <= stream.AT_HAND + 1
    with pytest.raises(CancelledError):
        submitted[-1].result()


def test_nothing_is_complained_about_after_leaving(
    pool: ThreadPoolExecutor, caplog: pytest.LogCaptureFixture
) -> None:
    async def leave() -> None:
        async for _ in receipts(pool, [1, 0.05, -1, -2, -3]):
            await asyncio.sleep(0.2)  # until the bad ones are known
            break

    asyncio.run(leave())
    assert not caplog.records


def test_an_asynchronous_source_needs_an_asynchronous_loop(pool: ThreadPoolExecutor) -> None:
    async def source() -> AsyncIterator[float]:
        yield 1

    with pytest.raises(InputError, match="take receipts by `async for`"):
        next(receipts(pool, source()))
