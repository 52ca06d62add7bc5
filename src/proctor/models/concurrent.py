"""Many requests at once to a model that answers one at a time each; who stops when it is gone."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from proctor.errors import ModelError, NoAnswer
from proctor.records.completion import Completion, Request, failed_completion

PATIENCE = 8
"""So many requests in a row, all of them tried again and again, mean that a server is gone."""

Ask = Callable[[Request], Completion]


def ask_all(
    ask: Ask, requests: Iterator[Request], *, model: str, max_in_flight: int, stop: threading.Event
) -> Iterator[Completion]:
    """Yield answers as they come, in any order; never more than `max_in_flight` are under way.

    A request that fails for good becomes a completion that says so. One that fails for the moment
    is held back until another one succeeds: if none does, the model is gone, nothing is written
    down of what it did not answer, and a later run asks again.
    """
    held: list[Completion] = []
    succeeded = False
    for request, future in _under_way(ask, requests, max_in_flight, stop):
        try:
            answer = future.result()
        except NoAnswer as error:
            failed = failed_completion(request, model, str(error))
            if not error.passing:
                yield failed
                continue
            held.append(failed)
            if len(held) >= max(PATIENCE, max_in_flight):
                raise ModelError(f"{model} answers no more: {error}") from None
            continue
        succeeded = True
        yield from held
        held.clear()
        yield answer
    if held and not succeeded:
        raise ModelError(f"{model} does not answer: {held[-1].more['error']}")
    yield from held


def _under_way(
    ask: Ask, requests: Iterator[Request], max_in_flight: int, stop: threading.Event
) -> Iterator[tuple[Request, Future[Completion]]]:
    """Yield requests that are done, well or not; when `stop` is set no new one is begun."""
    running: dict[Future[Completion], Request] = {}
    pool = ThreadPoolExecutor(max_in_flight, thread_name_prefix="asking")
    try:
        while True:
            while len(running) < max_in_flight and not stop.is_set():
                request = next(requests, None)
                if request is None:
                    break
                running[pool.submit(ask, request)] = request
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
